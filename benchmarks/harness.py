"""What several benchmarks need: C programs, servers in child processes, and the CPU time and memory of processes."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_HOME = Path(__file__).parent
_TICKS = os.sysconf("SC_CLK_TCK")

ENVIRONMENT = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
"""Environment variables of measured processes. The threads that numpy starts for linear algebra spin for a while after
the import, and their CPU time would count as the client's."""


def build(source: str, *libraries: str) -> Path:
    """Compile benchmarks/`source`, a C file; return the program.

    Raises:
        subprocess.CalledProcessError, FileNotFoundError: gcc or a library is missing.
    """
    program = _HOME / "build" / Path(source).stem
    program.parent.mkdir(exist_ok=True)
    subprocess.run(["gcc", "-O2", "-o", str(program), str(_HOME / source), *libraries], check=True)
    return program


@contextmanager
def serving(*command: str) -> Iterator[str]:
    """Run a program that prints its address as its first line and ends when its stdin closes; yield that line.

    Raises:
        RuntimeError: the program ended without a line.
    """
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield first_line(process)


def first_line(process: subprocess.Popen[str]) -> str:
    """Wait for the first line of a program's output, a pipe of text.

    Raises:
        RuntimeError: the program ended without a line.
    """
    assert process.stdout is not None
    line = process.stdout.readline().strip()
    if not line:
        raise RuntimeError(f"{process.args!r} ended with status {process.wait()} and printed nothing")
    return line


def cpu_seconds(pid: int) -> float:
    """Return the CPU time of a process so far, user and system; 0.0 if the process has ended."""
    fields = stat_fields(pid)
    return (int(fields[11]) + int(fields[12])) / _TICKS


def stat_fields(pid: int) -> list[str]:
    """Return the fields of /proc/PID/stat from the third on; zeros if the process has ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return ["0"] * 50


def resident() -> int:
    """Return the resident memory of this process, in bytes."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")


def process_tree(root: int | None = None) -> list[int]:
    """Return the id of a process, by default this one, and those of its descendants."""
    parents = {int(path.name): int(stat_fields(int(path.name))[1]) for path in Path("/proc").glob("[0-9]*")}
    found = [root or os.getpid()]
    for process in found:
        found += [child for child, parent in parents.items() if parent == process]
    return found
