"""Raw updates of a foreign server: client CPU against libvncclient, on captures of Xvnc."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from rich.console import Console

from benchmarks.drivers.decode import Command, commands, measure_row
from benchmarks.machine.results import Result
from benchmarks.machine.trees import Tree
from benchmarks.servers.capture import ensure, path_of
from benchmarks.workloads.names import WORKLOADS

SHOWN = ("game", "browser", "terminal", "windows", "noise", "atari")
_PEER = "libvncclient"


def measure(before: Tree, rounds: int, console: Console, advance: Callable[[str], None]) -> list[Result]:
    """Return a result for each capture."""
    ensure(list(SHOWN), console)
    known = commands()
    clients: dict[str, Command] = {"before": _client_of(before), "now": known["native"], _PEER: known[_PEER]}
    results = []
    for name in SHOWN:
        advance(f"Raw, {name}")
        row = measure_row(path_of(name, "raw"), clients, rounds)
        if row is not None:
            title = f"Raw of Xvnc, {WORKLOADS[name]}"
            results.append(Result(title, "client CPU ms an update", "≤ 1.2 of libvncclient", row.cpu, _PEER))
    return results


def _client_of(tree: Tree) -> Command:
    """Return the command line of the native client of another tree, with that tree's own measuring program."""

    def command(port: int, updates: int, plan: Path) -> list[str]:
        client = [tree.python, "-m", "benchmarks.clients", "native", str(port), str(updates)]
        return ["env", "-C", str(tree.path), *client]

    return command
