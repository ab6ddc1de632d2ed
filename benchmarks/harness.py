"""What measured processes need: the C programs, built when they are needed, and an environment."""

from __future__ import annotations

import os
import subprocess
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
