"""Deadlines of ticks in real time, which neither drift nor come in bursts."""

from __future__ import annotations

from collections import deque

BEHIND = 3
"""Ticks by which a deadline may be late; beyond it, missed ticks are skipped instead of run in a burst."""
SETTLED = 0.5
"""Seconds of an episode after which its own rate is known; before, a late tick would count too much."""


class Pace:
    """The deadline of the next tick. The caller passes the time, monotonic and in seconds.

    Attributes:
        period: seconds from one tick to the next.
        missed: ticks that were skipped because the environment was too slow.
    """

    def __init__(self, fps: float) -> None:
        if not fps > 0:
            raise ValueError(f"fps must be greater than 0, not {fps}")
        self.missed = 0
        self.period = 1 / fps
        self._due = 0.0
        self._last_rate = 0.0
        self._times: deque[float] = deque(maxlen=max(round(2 * fps), 2))

    @property
    def rate(self) -> float:
        """Ticks per second over the last two seconds of this episode; at its start, of the previous episode."""
        span = self._times[-1] - self._times[0] if self._times else 0.0
        if span < SETTLED and self._last_rate:
            return self._last_rate
        return (len(self._times) - 1) / span if span > 0 else self._last_rate

    def start(self, now: float) -> None:
        """Begin an episode: its first tick is due one period from now."""
        self._last_rate = self.rate
        self._times.clear()
        self.resume(now)

    def resume(self, now: float) -> None:
        """Return to real time: the next tick is due one period from now."""
        self._due = now + self.period

    def delay(self, now: float) -> float:
        """Return the seconds until the next tick; 0 if it is late."""
        return max(self._due - now, 0.0)

    def stepped(self, now: float, ticks: int = 1) -> None:
        """Count ticks that ran until `now` without a deadline."""
        self._times.extend([now] * ticks)

    def ticked(self, now: float) -> None:
        """Count a tick that ran at `now`, and set the next deadline."""
        self._times.append(now)
        late = int((now - self._due) / self.period)
        if late > BEHIND:
            self.missed += late
            self._due += late * self.period
        self._due += self.period
