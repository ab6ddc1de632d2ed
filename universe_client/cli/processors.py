"""The processors of this machine, and what a process and its descendants use of them."""

from __future__ import annotations

import os
import sys
from pathlib import Path

_PROC = Path("/proc")
_PARENT, _USER, _SYSTEM = 1, 11, 12  # fields of /proc/PID/stat after the name, see proc(5)


def processors() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def cpu_seconds() -> float | None:
    """Return the CPU time so far of this process and its living descendants; None if the system does not tell it."""
    if sys.platform != "linux":
        return None
    stats = {int(path.name): _stat(path) for path in _PROC.glob("[0-9]*")}
    if not stats:
        return None
    family = [os.getpid()]
    for process in family:
        family += [pid for pid, stat in stats.items() if stat and int(stat[_PARENT]) == process]
    ticks = sum(int(stat[_USER]) + int(stat[_SYSTEM]) for pid in family if (stat := stats.get(pid)))
    return ticks / os.sysconf("SC_CLK_TCK")


def _stat(path: Path) -> list[str]:
    """Return the fields after the name; none if the process has ended."""
    try:
        return (path / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []
