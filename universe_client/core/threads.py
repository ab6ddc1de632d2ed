"""The agent's threads: what wakes them, and the check that only one of them uses an environment."""

from __future__ import annotations

import threading

from universe_client.errors import LocalStateError


class Changed(threading.Event):
    """An event that also sets others.

    Attributes:
        followers: the others; each is cleared on its own.
    """

    def __init__(self) -> None:
        super().__init__()
        self.followers: list[threading.Event] = []

    def set(self) -> None:
        """Set the event and its followers."""
        super().set()
        for follower in self.followers:
            follower.set()


class OneThread:
    """A context that one thread at a time may enter; the same thread may enter it again after an interruption.

    It detects mistakes and does not exclude threads: two that enter within the same microsecond may both pass.
    """

    def __init__(self) -> None:
        self._inside: int | None = None  # the thread

    def check(self) -> None:
        """Check that no other thread is inside.

        Raises:
            LocalStateError: one is.
        """
        if self._inside not in (None, threading.get_ident()):
            raise LocalStateError(
                "another thread uses the environment: one thread at a time may step or reset it"
            )

    def __enter__(self) -> None:
        self.check()
        self._inside = threading.get_ident()

    def __exit__(self, *exception: object) -> None:
        self._inside = None
