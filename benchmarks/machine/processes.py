"""CPU time and memory of all processes of a side: the worker and its descendants."""

from __future__ import annotations

import ctypes
import os
import re
from collections.abc import Iterable
from pathlib import Path

from benchmarks.harness import cpu_seconds, process_tree

_PR_SET_CHILD_SUBREAPER = 36


def adopt_orphans() -> None:
    """Become the parent of descendants whose parent ends, so that they stay in the process tree (Linux only)."""
    if ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_CHILD_SUBREAPER) failed")


def others() -> list[int]:
    """Return the ids of all descendants of this process."""
    return [process for process in process_tree() if process != os.getpid()]


class CpuMeter:
    """Counts the CPU time of this process and its descendants from now on."""

    def __init__(self, without: Iterable[int] = ()) -> None:
        """Start; the processes of `without` do not count."""
        self._without = frozenset(without)
        self._before = self._by_process()

    def seconds(self) -> float:
        """Return the CPU seconds so far, user and system."""
        now = self._by_process()
        return sum(seconds - self._before.get(process, 0.0) for process, seconds in now.items())

    def _by_process(self) -> dict[int, float]:
        return {process: cpu_seconds(process) for process in process_tree() if process not in self._without}


def named(pattern: str) -> list[int]:
    """Return the ids of the descendants whose command line matches a regular expression, and their descendants."""
    roots = [process for process in others() if re.search(pattern, _command_line(process))]
    return [process for root in roots for process in process_tree(root)]


def pss(processes: Iterable[int]) -> float:
    """Return the memory of processes in MiB; of a page that several share, each counts its part."""
    return sum(_pss(process) for process in processes) / 1024


def _pss(process: int) -> int:
    text = Path(f"/proc/{process}/smaps_rollup").read_text()
    found = re.search(r"^Pss:\s+(\d+) kB", text, re.MULTILINE)
    return int(found[1]) if found else 0


def _command_line(process: int) -> str:
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except FileNotFoundError:
        return ""
