"""What measurements need: the C programs, built when they are needed, an environment, and servers beside them."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_HOME = Path(__file__).parent

ENVIRONMENT = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
"""For measured processes: the threads that numpy starts for its linear algebra spin for a while after the import, and
their time would count as the client's."""


def build(name: str, *libraries: str) -> Path:
    """Compile benchmarks/`name`.c; return the program.

    Raises:
        subprocess.CalledProcessError, FileNotFoundError: there is no gcc, or a library is missing.
    """
    program = _HOME / "build" / name
    program.parent.mkdir(exist_ok=True)
    subprocess.run(["gcc", "-O2", "-o", str(program), str(_HOME / f"{name}.c"), *libraries], check=True)
    return program


@contextmanager
def serving(*command: str) -> Iterator[str]:
    """Run a program that says where it is in its first line, and ends when its stdin does; yields that line.

    Raises:
        RuntimeError: it ended without a line.
    """
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield first_line(process)


def first_line(process: subprocess.Popen[str]) -> str:
    """Wait for the first line of a program's output, a pipe of text.

    Raises:
        RuntimeError: it ended without a line.
    """
    assert process.stdout is not None
    line = process.stdout.readline().strip()
    if not line:
        raise RuntimeError(f"{process.args!r} ended with status {process.wait()}, and said nothing")
    return line
