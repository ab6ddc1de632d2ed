"""`python -m tests.wheels`: the wheels in dist, each installed in empty containers, where an agent then plays.

It fails unless the agent plays on the native driver, and prints how many seconds pass from nothing to the first
observation. `--short` takes one container. Needs root, for debootstrap and to enter the containers.
"""

from __future__ import annotations

import argparse
import platform
import sys
from pathlib import Path

from tests.wheels.container import ROOT, CommandFailed
from tests.wheels.trial import System, Wrong, install_and_play, play_without_installing

_DEBIAN = (
    System("Debian 12", "bookworm"),
    System("Debian 13", "trixie"),
    System("Debian testing", "forky", "python3.14-venv"),
)
_HEAD = """\
| system | Python | environment | pip install | first observation | in all | frames/s |
|---|---|---|---|---|---|---|"""


def main() -> int:
    """Run the command line."""
    options = _options()
    failures = []
    print(_HEAD)
    for system in _systems(options):
        try:
            print(_row(system, _wheel(system)), flush=True)
        except (Wrong, CommandFailed) as error:
            failures.append(f"{system.name}: {error}")
    if not options.short:
        for name, seconds in play_without_installing(_DEBIAN[0], _wheel(_DEBIAN[0])):
            print(f"{name}: {seconds:.1f} s to the first observation, in {_DEBIAN[0].name}")
    print(*failures, sep="\n", file=sys.stderr)
    return 1 if failures else 0


def _systems(options: argparse.Namespace) -> list[System]:
    if options.short:
        return [_DEBIAN[0]]
    brought = [
        System(debian.name, debian.suite, prefix=prefix)
        for prefix in options.python
        for debian in _DEBIAN[:2]
    ]
    return [*_DEBIAN, *brought]


def _wheel(system: System) -> Path:
    """Return the wheel for the container's Python."""
    tag = "cp314t" if system.prefix and (system.prefix / "bin" / "python3.14t").exists() else "abi3"
    return next((ROOT / "dist").glob(f"*-{tag}-manylinux*_{platform.machine()}.whl"))


def _row(system: System, wheel: Path) -> str:
    times = install_and_play(system, wheel)
    seconds = (times.venv, times.pip, times.first, times.total)
    cells = (
        system.name,
        times.python,
        *(f"{value:.1f} s" for value in seconds),
        f"{times.frames_per_second:.0f}",
    )
    return f"| {' | '.join(cells)} |"


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.wheels", description=__doc__)
    parser.add_argument("--short", action="store_true", help="one container")
    parser.add_argument(
        "--python",
        action="append",
        type=Path,
        default=[],
        metavar="PREFIX",
        help="a Python of this machine to try too",
    )
    return parser.parse_args()


sys.exit(main())
