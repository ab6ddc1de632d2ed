"""Durations on machines that have other things to do."""

from __future__ import annotations

import time
from collections.abc import Callable


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
