"""Run a worker and print its figures: `python -m benchmarks.machine.workers TREE MODULE FUNCTION ARGUMENT ...`.

A worker is a function that takes strings and returns numbers by the name of their measure. It stops with an error if
`universe_client` would be imported from another place than TREE; TREE is "-" for a peer that does not need it.
"""

from __future__ import annotations

import json
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from benchmarks.machine.processes import adopt_orphans


def main(tree: str, module: str, function: str, *arguments: str) -> None:
    if tree != "-":
        _check(Path(tree))
    adopt_orphans()
    worker = getattr(import_module(f"benchmarks.machine.workers.{module}"), function)
    print(json.dumps(worker(*arguments)), flush=True)


def _check(tree: Path) -> None:
    spec = find_spec("universe_client")
    if spec is None or spec.origin is None or not Path(spec.origin).resolve().is_relative_to(tree.resolve()):
        sys.exit(f"universe_client comes from {spec and spec.origin}, not from {tree}")
    from vnc.drivers import choose

    if choose("auto").name != "native":
        sys.exit(f"{tree} has no native driver")


if __name__ == "__main__":
    main(*sys.argv[1:])
