"""The C programs of the benchmarks, built when they are needed."""

from __future__ import annotations

import subprocess
from pathlib import Path

_HOME = Path(__file__).parent


def build(name: str, *libraries: str) -> Path:
    """Compile benchmarks/`name`.c; return the program.

    Raises:
        subprocess.CalledProcessError, FileNotFoundError: there is no gcc, or a library is missing.
    """
    program = _HOME / "build" / name
    program.parent.mkdir(exist_ok=True)
    subprocess.run(["gcc", "-O2", "-o", str(program), str(_HOME / f"{name}.c"), *libraries], check=True)
    return program
