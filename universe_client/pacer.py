"""Pace a loop: one deadline for each step, at a fixed step rate."""

from __future__ import annotations

import threading
import time

from universe_client.errors import ConfigError


class Pacer:
    """Deadlines that are 1 / `step_rate` seconds apart.

    Deadlines are absolute: the time that the caller spends between two calls of `wait` is part of the period, and small
    delays do not add up. After a missed deadline the next period begins at once, so lost time is not made up for by a
    burst of steps. `wait` is for one thread; `close` may be called from any.

    Attributes:
        step_rate: steps per second; None never waits. A change takes effect from the next period.
        missed: the number of deadlines that had passed when `wait` was called.
    """

    def __init__(self, step_rate: float | None) -> None:
        """Make a pacer; its first period begins at `restart`, or else at the first `wait`.

        Raises:
            ConfigError: `step_rate` is neither None nor positive.
        """
        if step_rate is not None and not step_rate > 0:
            raise ConfigError(f"step_rate={step_rate!r} is not a positive number of steps per second")
        self.step_rate = step_rate
        self.missed = 0
        self._deadline: float | None = None
        self._closed = threading.Event()

    @property
    def deadline(self) -> float | None:
        """The end of this period, in seconds of `time.monotonic()`; None before the first."""
        return self._deadline

    def restart(self) -> None:
        """Begin a period now."""
        if self.step_rate is not None:
            self._deadline = time.monotonic() + 1 / self.step_rate

    def wait(self) -> None:
        """Return at the deadline of this period, or at once if it has passed; begin the next period there."""
        if self.step_rate is None:
            return
        now = time.monotonic()
        due = now if self._deadline is None else self._deadline
        if now > due:
            self.missed += 1
            due = now
        self._closed.wait(due - now)
        self._deadline = due + 1 / self.step_rate

    def close(self) -> None:
        """Wake a thread that is in `wait`, and never wait again."""
        self._closed.set()
