"""The agent's threads: what wakes them, and the check that only one of them uses an environment."""

from __future__ import annotations

import threading
from collections.abc import Callable

from universe_client.errors import LocalStateError
from vnc.session import Session


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
        for follower in tuple(self.followers):
            follower.set()


class Waiters:
    """A context for threads that wait for frames: only while one is inside, sessions wake the event loop for frames.

    All methods may be called on any thread.
    """

    def __init__(self, on_news: Callable[[], object]) -> None:
        """`on_news` is called at an entry if a frame came while nobody was inside."""
        self._on_news = on_news
        self._lock = threading.Lock()
        self._sessions: set[Session] = set()
        self._inside = 0

    def add(self, session: Session) -> None:
        """Include a new session, which wakes the event loop for frames."""
        with self._lock:
            self._sessions.add(session)
            if not self._inside:
                session.listen(False)

    def remove(self, session: Session) -> None:
        """Forget a session."""
        with self._lock:
            self._sessions.discard(session)

    def stay(self) -> None:
        """Enter for good."""
        self.__enter__()

    def __enter__(self) -> None:
        with self._lock:
            self._inside += 1
            listening = self._sessions if self._inside == 1 else ()
            news = [session.listen(True) for session in listening]
        if any(news):
            self._on_news()

    def __exit__(self, *exception: object) -> None:
        with self._lock:
            self._inside -= 1
            if not self._inside:
                for session in self._sessions:
                    session.listen(False)


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
