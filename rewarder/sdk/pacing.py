"""Real time in ticks: absolute deadlines that neither drift nor burst."""

from __future__ import annotations

from collections import deque

BEHIND = 3
"""Ticks a deadline may be late before the ticks missed are given up instead of being caught up."""


class Pace:
    """When the next tick is due. Time (monotonic, in seconds) is passed in."""

    def __init__(self, fps: float) -> None:
        if not fps > 0:
            raise ValueError(f"fps must be above 0, not {fps}")
        self.missed = 0
        """Ticks that were never run because the environment was too slow."""
        self._period = 1 / fps
        self._due = 0.0
        self._last_rate = 0.0
        self._times: deque[float] = deque(maxlen=max(round(2 * fps), 2))

    @property
    def rate(self) -> float:
        """Ticks per second over the last two seconds of this episode, at its start of the one before."""
        span = self._times[-1] - self._times[0] if self._times else 0.0
        return (len(self._times) - 1) / span if span > 0 else self._last_rate

    def start(self, now: float) -> None:
        """An episode begins: the first tick is due one period from now."""
        self._last_rate = self.rate
        self._times.clear()
        self.resume(now)

    def resume(self, now: float) -> None:
        """Real time goes on: the next tick is due one period from now."""
        self._due = now + self._period

    def delay(self, now: float) -> float:
        """Return how long to wait for the next tick; 0 if it is late."""
        return max(self._due - now, 0.0)

    def stepped(self, now: float) -> None:
        """Count one tick, run at `now`, that had no deadline."""
        self._times.append(now)

    def ticked(self, now: float) -> None:
        """Count one tick, run at `now`, and set the next deadline."""
        self._times.append(now)
        late = int((now - self._due) / self._period)
        if late > BEHIND:
            self.missed += late
            self._due += late * self._period
        self._due += self._period
