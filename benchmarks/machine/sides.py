"""Run workers: each in a process of its own, with the package of its side."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.harness import ENVIRONMENT
from benchmarks.machine.trees import Tree

_TIMEOUT = 600.0
_BENCHMARKS = Path(__file__).parent.parent
_ENVIRONMENT = {name: value for name, value in ENVIRONMENT.items() if name != "PYTHONPATH"}
Figures = dict[str, float]


class Unable(Exception):
    """A side cannot run a worker; the message is the last line of its output."""


@dataclass(frozen=True, slots=True)
class Side:
    """A Python, and the tree that its `universe_client` must come from; None for a peer that has none."""

    python: str
    tree: Path | None

    @classmethod
    def of(cls, tree: Tree) -> Side:
        return cls(tree.python, tree.path)

    def run(self, worker: tuple[str, ...]) -> Figures:
        """Run a worker to its end.

        Raises:
            Unable: it failed, or took too long.
        """
        command = [self.python, "-m", "benchmarks.machine.workers", str(self.tree or "-"), *worker]
        with _only_benchmarks() as folder, tempfile.TemporaryFile("w+") as errors:
            with subprocess.Popen(
                command, cwd=folder, env=_ENVIRONMENT, stdout=subprocess.PIPE, stderr=errors, text=True,
                start_new_session=True,
            ) as process:  # fmt: skip
                try:
                    output, _ = process.communicate(timeout=_TIMEOUT)
                except BaseException as error:
                    os.killpg(process.pid, signal.SIGKILL)
                    if isinstance(error, subprocess.TimeoutExpired):
                        raise Unable(f"not done after {_TIMEOUT:g} s") from None
                    raise
            if process.returncode != 0:
                errors.seek(0)
                raise Unable((errors.read().strip().splitlines() or [f"status {process.returncode}"])[-1])
        figures: Figures = json.loads(output.splitlines()[-1])
        return figures


@contextmanager
def _only_benchmarks() -> Iterator[str]:
    """Yield a folder in which Python finds these benchmarks and nothing else of this tree."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "benchmarks").symlink_to(_BENCHMARKS)
        yield folder
