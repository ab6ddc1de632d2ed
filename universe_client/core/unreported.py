"""What has happened to one remote and has not been reported to the agent: rewards, ends of episodes, errors."""

from __future__ import annotations

import threading
from typing import NamedTuple

from rewarder.protocol.buffer import RewardBuffer
from rewarder.protocol.episode import Popped
from universe_client.errors import RemoteError


class Collected(NamedTuple):
    """What `Unreported.collect` returns.

    Attributes:
        popped: the rewards, and the end of an episode.
        error: the newest error; None if there is none.
        endless_end: why the endless episode of a remote without a rewarder has ended; None if it has not.
    """

    popped: Popped
    error: RemoteError | None
    endless_end: str | None


class Unreported:
    """Filled on the event loop's thread and collected on the agent's. The lock makes a loss one event.

    Without it a step could return the truncation, and the next step the error that caused it.

    Attributes:
        buffer: the rewards; it has a lock of its own, and outlives connections.
        errors: the errors since the last `collect`, oldest first.
    """

    def __init__(self) -> None:
        self.buffer = RewardBuffer()
        self.errors: list[RemoteError] = []
        self._endless_end: str | None = None
        self._lock = threading.Lock()

    def lose(self, error: RemoteError, *, ends_endless: bool) -> None:
        """The connection has ended: report `error`, and truncate the episode that was running."""
        with self._lock:
            self.errors.append(error)
            self.buffer.disconnected("lost")
            if ends_endless:
                self._endless_end = "lost"

    def end_endless(self, reason: str) -> None:
        """Report the end of an endless episode, for `reason`, unless it has ended already."""
        with self._lock:
            self._endless_end = self._endless_end or reason

    def collect(self) -> Collected:
        """Return everything since the last call, once."""
        with self._lock:
            error = self.errors[-1] if self.errors else None
            self.errors.clear()
            endless_end, self._endless_end = self._endless_end, None
            return Collected(self.buffer.pop(), error, endless_end)
