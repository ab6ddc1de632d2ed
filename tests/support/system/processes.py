"""Information about other processes. Waits use a pidfd, not a fixed time."""

from __future__ import annotations

import os
import select
from collections.abc import Iterable
from pathlib import Path


def listener(port: int) -> int:
    """Return the id of the process that listens on 127.0.0.1:`port`."""
    lines = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    inodes = [line[9] for line in lines if line[1] == f"0100007F:{port:04X}" and line[3] == "0A"]
    assert len(inodes) == 1, f"{len(inodes)} listeners on port {port}"
    return next(pid for pid in _processes() if f"socket:[{inodes[0]}]" in _open_files(pid))


def descendants(pid: int) -> set[int]:
    """Return the ids of all living processes below `pid`."""
    parents = {child: parent for child in _processes() if (parent := _parent(child)) is not None}
    found: set[int] = set()
    new = {pid}
    while new:
        found |= new
        new = {child for child, parent in parents.items() if parent in new}
    return found - {pid}


def session(pid: int) -> set[int]:
    """Return the ids of all living processes in the session that `pid` leads."""
    return {process for process in _processes() if _stat(process)[3:4] == [str(pid)]}


def command_line(pid: int) -> list[str]:
    """Return the program and its arguments; [""] for a process that has ended."""
    try:
        line = Path(f"/proc/{pid}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        line = b""
    return line.rstrip(b"\0").decode().split("\0")


def state(pid: int) -> str:
    """Return the letter of a process's state: `T` for a stopped one."""
    return _stat(pid)[0]


def start_ticks(pid: int) -> int:
    """Return when a process started, in clock ticks since the boot: with its id, this names it for ever.

    Raises:
        ProcessLookupError: it has ended.
    """
    fields = _stat(pid)
    if not fields:
        raise ProcessLookupError(f"process {pid} has ended")
    return int(fields[19])


class Obituary:
    """Waits for the end of processes. Create it while they run, so that a reused id is not mistaken for them."""

    def __init__(self, pids: Iterable[int]) -> None:
        self._files = {os.pidfd_open(pid): (pid, command_line(pid)) for pid in pids}

    def alive(self) -> list[tuple[int, list[str]]]:
        ended, _, _ = select.select(list(self._files), [], [], 0)
        return [who for file, who in self._files.items() if file not in ended]

    def wait(self, timeout: float) -> None:
        """Wait for the end of all; the timeout applies to each."""
        for file, who in self._files.items():
            assert select.select([file], [], [], timeout)[0], f"{who} is alive after {timeout} s"

    def close(self) -> None:
        for file in self._files:
            os.close(file)


def _processes() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdecimal()]


def _stat(pid: int) -> list[str]:
    """Return the fields of /proc/pid/stat after the name: state, parent, group, session, ...; [] if it has ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return []
    return [] if fields[0] == "Z" else fields


def _parent(pid: int) -> int | None:
    fields = _stat(pid)
    return int(fields[1]) if fields else None


def _open_files(pid: int) -> list[str]:
    try:
        return [os.readlink(f"/proc/{pid}/fd/{name}") for name in os.listdir(f"/proc/{pid}/fd")]
    except (FileNotFoundError, PermissionError, ProcessLookupError):
        return []
