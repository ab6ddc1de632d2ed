"""What has happened to one remote and has not been reported to the agent: rewards, ends of episodes, errors."""

from __future__ import annotations

import threading

from rewarder.protocol.buffer import RewardBuffer
from rewarder.protocol.episode import Popped
from universe_client.errors import RemoteError


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

    def collect(self) -> tuple[Popped, RemoteError | None, str | None]:
        """Return everything since the last call, once.

        Returns:
            The rewards; the newest error; and why the endless episode of a remote without a rewarder has ended.
        """
        with self._lock:
            error = self.errors[-1] if self.errors else None
            self.errors.clear()
            endless_end, self._endless_end = self._endless_end, None
            return self.buffer.pop(), error, endless_end
