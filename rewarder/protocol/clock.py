"""Estimate clock skew and round-trip time from pings, as NTP does: the fastest sample is the most exact one.

A ping leaves at `sent`, and its reply arrives at `received` with the remote's clock `remote`. The remote reads its
clock between the two, so the error of the middle is at most half the round trip. Local times are monotonic, so a step
of the local clock has no effect. A step of the remote's clock is detected and empties the window.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

WINDOW = 32
"""Samples that are kept. With one ping per second, the window follows drift and contains fast samples."""
CALIBRATED = 3
"""Samples that an estimate needs."""
STEP = 0.05
"""Seconds beyond their own errors by which two samples differ if the remote's clock was set."""


@dataclass(frozen=True, slots=True)
class _Sample:
    rtt: float
    offset: float
    """Remote wall clock minus local monotonic clock."""


class ClockSync:
    """The offset of one remote's clock from the local one, over a sliding window of pings."""

    def __init__(self) -> None:
        self._window: deque[_Sample] = deque(maxlen=WINDOW)
        self._best: _Sample | None = None
        self._wall_offset = 0.0

    def add(self, sent: float, received: float, remote: float, wall: float) -> None:
        """Add the result of one ping.

        Args:
            sent: monotonic time of the ping.
            received: monotonic time of the reply.
            remote: the remote's wall clock in the reply.
            wall: the local wall clock at `received`.
        """
        sample = _Sample(max(received - sent, 0.0), remote - (sent + received) / 2)
        best = self._best
        if best is not None and abs(sample.offset - best.offset) > (sample.rtt + best.rtt) / 2 + STEP:
            self._window.clear()
        self._window.append(sample)
        self._best = min(self._window, key=lambda each: each.rtt)
        self._wall_offset = wall - received

    @property
    def samples(self) -> int:
        """Number of pings in the window."""
        return len(self._window)

    @property
    def calibrated(self) -> bool:
        """Whether there are enough samples for `skew` and `lag` to be exact."""
        return len(self._window) >= CALIBRATED

    @property
    def skew(self) -> float | None:
        """The remote's wall clock minus the local one, in seconds; None before the first ping."""
        return None if self._best is None else self._best.offset - self._wall_offset

    @property
    def rtt(self) -> float | None:
        """The smallest round trip in the window, in seconds. The error of `skew` is at most half of it."""
        return None if self._best is None else self._best.rtt

    def lag(self, sent_at: float, received_at: float) -> float | None:
        """Return how many seconds a message took.

        Args:
            sent_at: on the remote's wall clock.
            received_at: on the local monotonic clock.
        """
        return None if self._best is None else received_at - (sent_at - self._best.offset)
