"""Clock skew and round-trip time from pings: the sample with the smallest round trip is the truest.

A ping leaves at `sent`, its reply says the remote's clock `remote`, and arrives at `received`. The remote
read its clock somewhere in between, so taking the middle errs by half the round trip at most. Local times are
monotonic: a step of the local clock moves nothing; a step of the remote's clock is recognised and starts the
window anew.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

WINDOW = 32
"""Samples kept: at a ping a second, old enough to hold a quiet moment, young enough to follow drift."""
CALIBRATED = 3
"""Samples below which a latency should not be believed."""
STEP = 0.05
"""Seconds two samples may disagree beyond their own error before the remote's clock counts as stepped."""


@dataclass(frozen=True, slots=True)
class _Sample:
    rtt: float
    offset: float
    """Remote wall clock minus local monotonic clock."""


class ClockSync:
    """The relation of one remote's clock to ours, over a sliding window of pings."""

    def __init__(self) -> None:
        self._window: deque[_Sample] = deque(maxlen=WINDOW)
        self._best: _Sample | None = None
        self._wall_offset = 0.0

    def add(self, sent: float, received: float, remote: float, wall: float) -> None:
        """Add a ping: monotonic `sent` and `received`, the remote's clock, our wall clock at `received`."""
        sample = _Sample(max(received - sent, 0.0), remote - (sent + received) / 2)
        best = self._best
        if best is not None and abs(sample.offset - best.offset) > (sample.rtt + best.rtt) / 2 + STEP:
            self._window.clear()
        self._window.append(sample)
        self._best = min(self._window, key=lambda each: each.rtt)
        self._wall_offset = wall - received

    @property
    def samples(self) -> int:
        """Pings in the window."""
        return len(self._window)

    @property
    def calibrated(self) -> bool:
        """Whether there are enough samples to believe `skew` and `lag`."""
        return len(self._window) >= CALIBRATED

    @property
    def skew(self) -> float | None:
        """The remote's wall clock minus ours, in seconds; None before the first ping."""
        return None if self._best is None else self._best.offset - self._wall_offset

    @property
    def rtt(self) -> float | None:
        """The smallest round trip in the window, in seconds; `skew` errs by half of it at most."""
        return None if self._best is None else self._best.rtt

    def lag(self, sent_at: float, received_at: float) -> float | None:
        """Seconds a message travelled: `sent_at` on the remote clock, `received_at` on our monotonic."""
        return None if self._best is None else received_at - (sent_at - self._best.offset)
