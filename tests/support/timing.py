"""Measure durations on busy machines."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")


def seconds(function: Callable[[], object]) -> float:
    """Return the duration of a call."""
    began = time.perf_counter()
    function()
    return time.perf_counter() - began


def best_of(attempts: int, function: Callable[[], object], good: float) -> float:
    """Return the shortest duration of several calls; stop after one that took less than `good` seconds.

    A busy machine is slow at times; code that waits where it must not is slow every time.
    """
    best = seconds(function)
    while best >= good and (attempts := attempts - 1):
        best = min(best, seconds(function))
    return best


class StepTimes:
    """Durations of calls on this thread, without the time in which the machine ran other threads.

    The kernel counts that time for each thread. This separates waiting for the network from waiting for a processor.
    """

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self._schedstat = Path(f"/proc/self/task/{threading.get_native_id()}/schedstat")

    def time(self, function: Callable[[], T]) -> T:
        """Call the function, record its duration, return its result."""
        began, waited = time.perf_counter(), self._waited()
        result = function()
        self.seconds.append(time.perf_counter() - began - (self._waited() - waited))
        return result

    def _waited(self) -> float:
        """Return the seconds in which the thread was runnable but did not run."""
        return int(self._schedstat.read_text().split()[1]) / 1e9

    @property
    def p99(self) -> float:
        """The 99th percentile, in milliseconds."""
        return 1000 * sorted(self.seconds)[len(self.seconds) * 99 // 100]
