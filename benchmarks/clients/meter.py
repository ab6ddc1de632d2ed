"""The CPU time, elapsed time and memory of the process that measures itself."""

from __future__ import annotations

import resource
import time

import msgspec

from benchmarks.harness import resident
from vnc.session import Timeouts

PATIENT = Timeouts(probe_interval=600.0, update=600.0)
"""Deadlines that a paused replay does not exceed."""


class Usage(msgspec.Struct):
    """Resources that a client used since its first update."""

    updates: int
    cpu: float
    """Seconds."""
    seconds: float
    rss: int
    """Bytes per connection."""


class Meter:
    """Measures this process from `begin` to `usage`."""

    def __init__(self, remotes: int = 1) -> None:
        self._remotes = remotes
        self._resident = resident()
        self._began = self._cpu = 0.0
        self._updates = 0

    def begin(self, updates: int) -> None:
        self._began, self._cpu, self._updates = time.monotonic(), _cpu(), updates

    def usage(self, updates: int, ended: float) -> Usage:
        cpu = _cpu() - self._cpu  # first, because reading the memory takes time
        memory = (resident() - self._resident) // self._remotes
        return Usage(updates - self._updates, cpu, ended - self._began, memory)


def _cpu() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime
