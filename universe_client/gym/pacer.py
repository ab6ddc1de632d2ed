"""Steps at a fixed rate, for faces that a learner drives as fast as it can."""

from __future__ import annotations

import threading
import time

from universe_client.errors import ConfigError


class Pacer:
    """Absolute deadlines, one every 1 / rate seconds; after a late one the next period begins anew.

    Attributes:
        missed: how many deadlines had passed before they were waited for.
    """

    def __init__(self, rate: float | None) -> None:
        """Pace to `rate` steps per second; None never waits."""
        if rate is not None and not rate > 0:
            raise ConfigError(f"step_rate={rate!r} is not a positive number of steps per second")
        self.missed = 0
        self._period = None if rate is None else 1 / rate
        self._deadline: float | None = None
        self._closed = threading.Event()

    def restart(self) -> None:
        """Begin the first period now."""
        if self._period is not None:
            self._deadline = time.monotonic() + self._period

    def wait(self) -> None:
        """Return when the period is over."""
        if self._period is None:
            return
        now = time.monotonic()
        due = now if self._deadline is None else self._deadline
        if now > due:
            self.missed += 1
            due = now
        self._closed.wait(due - now)
        self._deadline = due + self._period

    def close(self) -> None:
        """Let go of whoever waits."""
        self._closed.set()
