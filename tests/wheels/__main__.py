"""`python -m tests.wheels`: the wheels in dist, each installed in empty containers, where an agent then plays.

It fails unless the agent plays on the native driver, and prints how many seconds pass from nothing to the first
observation. Then it runs `pipx run` and `uvx`, and the wheel for aarch64 under qemu. `--short` takes one container and
nothing else. Needs root, for debootstrap and to enter the containers.
"""

from __future__ import annotations

import argparse
import platform
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from tests.wheels import emulated
from tests.wheels.container import ROOT, CommandFailed
from tests.wheels.trial import System, Wrong, install_and_play, play_without_installing

_DEBIAN = (
    System("Debian 12", "bookworm"),
    System("Debian 13", "trixie"),
    System("Debian unstable", "sid", "python3.14-venv"),
)
_HEAD = """\
| system | Python | environment | pip install | first observation | in all | frames/s |
|---|---|---|---|---|---|---|"""


def main() -> int:
    """Run the command line."""
    options = _options()
    failures = []
    if not options.emulated:
        print(_HEAD)
    for check in _checks(options):
        try:
            print(check(), flush=True)
        except (Wrong, CommandFailed) as error:
            failures.append(str(error))
    print(*failures, sep="\n", file=sys.stderr)
    return 1 if failures else 0


def _checks(options: argparse.Namespace) -> Iterator[Callable[[], str]]:
    """Yield what is to be done; each returns a line to print."""
    if options.emulated:
        yield _emulated
        return
    for system in _systems(options):
        yield partial(_row, system, _wheel(system))
    if not options.short:
        yield partial(_without_installing, _DEBIAN[0])
        yield _emulated


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


def _without_installing(system: System) -> str:
    figures = play_without_installing(system, _wheel(system))
    return "\n".join(
        f"{name} in {system.name}: first observation after {seconds:.1f} s" for name, seconds in figures
    )


def _emulated() -> str:
    wheel = next((ROOT / "dist").glob("*-abi3-manylinux*_aarch64.whl"))
    return f"aarch64, emulated: {emulated.decode_and_play(wheel)}"


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
    parser.add_argument("--emulated", action="store_true", help="the wheel for aarch64, and nothing else")
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
