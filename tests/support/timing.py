"""Durations on machines that have other things to do."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")


def seconds(function: Callable[[], object]) -> float:
    """How long a call takes."""
    began = time.perf_counter()
    function()
    return time.perf_counter() - began


def best_of(attempts: int, function: Callable[[], object], good: float) -> float:
    """The shortest of some calls; no more are made after one that took less than `good` seconds.

    A machine that is busy is slow now and then; code that waits where it should not is slow every time.
    """
    best = seconds(function)
    while best >= good and (attempts := attempts - 1):
        best = min(best, seconds(function))
    return best


class StepTimes:
    """How long calls take on this thread, without the time for which the machine ran something else instead.

    The kernel counts that time for each thread, so a call that waits for the network is told from one that waits for
    a processor.
    """

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self._schedstat = Path(f"/proc/self/task/{threading.get_native_id()}/schedstat")

    def time(self, function: Callable[[], T]) -> T:
        """Call, keep the time, return the result."""
        began, waited = time.perf_counter(), self._waited()
        result = function()
        self.seconds.append(time.perf_counter() - began - (self._waited() - waited))
        return result

    def _waited(self) -> float:
        """Seconds for which the thread could have run and did not."""
        return int(self._schedstat.read_text().split()[1]) / 1e9

    @property
    def p99(self) -> float:
        """What 99 of 100 calls do not exceed, in milliseconds."""
        return 1000 * sorted(self.seconds)[len(self.seconds) * 99 // 100]
