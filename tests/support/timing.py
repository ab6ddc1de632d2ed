"""Measure durations on busy machines."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")


def seconds(function: Callable[[], object]) -> float:
    """Return the duration of a call."""
    began = time.perf_counter()
    function()
    return time.perf_counter() - began


def best_of(attempts: int, function: Callable[[], object], good: float) -> float:
    """Return the shortest of several calls in seconds, without the waiting for a processor (see `Stopwatch`).

    Stop after a call that took less than `good` seconds. A busy machine is slow at times; code that waits where it must
    not is slow every time.
    """
    times = StepTimes()
    for _ in range(attempts):
        times.time(function)
        if times.seconds[-1] < good:
            break
    return min(times.seconds)


class Stopwatch:
    """Measures the time since its start, with and without the waiting of this process for a processor.

    The kernel counts for each thread the time in which it could run but did not. On an idle machine both times agree.
    On a busy one, `seconds` leaves out the delay that other programs cause, and more if several threads wait at once.
    """

    def __init__(self) -> None:
        self._starved = _starvation()
        self._began = time.perf_counter()

    @property
    def elapsed(self) -> float:
        """All seconds since the start."""
        return time.perf_counter() - self._began

    @property
    def seconds(self) -> float:
        """The seconds since the start, without those in which threads of this process waited for a processor."""
        elapsed, starved = self.elapsed, _starvation()
        waited = sum(value - self._starved.get(thread, 0.0) for thread, value in starved.items())
        return max(elapsed - waited, 0.0)


def _starvation() -> dict[str, float]:
    """Return the seconds in which each thread of this process was ready to run but did not run."""
    waited: dict[str, float] = {}
    for thread in Path("/proc/self/task").iterdir():
        with suppress(OSError):  # the thread has ended
            waited[thread.name] = int((thread / "schedstat").read_text().split()[1]) / 1e9
    return waited


class StepTimes:
    """Durations of calls, without the time in which this process waited for a processor (see `Stopwatch`)."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    def time(self, function: Callable[[], T]) -> T:
        """Call the function, record its duration, return its result."""
        watch = Stopwatch()
        result = function()
        self.seconds.append(watch.seconds)
        return result

    @property
    def p99(self) -> float:
        """The 99th percentile, in milliseconds."""
        return 1000 * sorted(self.seconds)[len(self.seconds) * 99 // 100]
