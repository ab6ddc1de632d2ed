"""CPU time per update of VNC clients on the same recorded updates, user and system.

Each client is a separate process that connects to a replay and requests one update after the other. The clients take
turns in each round. Server and client run on different processors, because a client that shares a processor with the
server is woken at half the cost. The floor reads the same bytes from the same socket, inflates them with zlib-ng,
decodes JPEG with libjpeg-turbo, writes as many pixels, and does nothing else. A client "fails" if it closes the
connection; "n/a" means that it does not support the encoding.
"""

from __future__ import annotations

import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from rich.console import Console

from benchmarks.drivers import floor
from benchmarks.harness import ENVIRONMENT, build
from benchmarks.report import Report, Table
from benchmarks.servers.capture import FORMS, ensure
from benchmarks.servers.replaying import replaying
from benchmarks.workloads.names import WORKLOADS
from vnc.capture.capture import read_capture

MOST_UPDATES = 250
CLIENTS = ("native", "native+take", "libvncclient", "portable", "asyncvnc", "vncdotool", "floor")
_KNOWS: Mapping[str, Iterable[str]] = {
    "portable": ("raw",),
    "asyncvnc": ("raw",),
    "vncdotool": ("raw", "hextile", "zrle"),
}
_FEW_UPDATES = {"vncdotool": 40}
"""Fewer than MOST_UPDATES for clients that would need a minute."""
_NAMES = ("workload", "form")
_TIMEOUT = 120.0
_ATTEMPTS = 5


@dataclass(slots=True)
class Row:
    """The runs of all clients on one capture."""

    workload: str
    form: str
    cpu: dict[str, list[float]] = field(default_factory=dict)
    """ms per update, by client."""
    rate: dict[str, list[float]] = field(default_factory=dict)
    rss: dict[str, list[float]] = field(default_factory=dict)
    """MB, by client."""
    failed: set[str] = field(default_factory=set)
    """Clients that closed the connection."""

    def add(self, client: str, usage: Mapping[str, float]) -> None:
        self.cpu.setdefault(client, []).append(1000 * usage["cpu"] / usage["updates"])
        self.rate.setdefault(client, []).append(usage["updates"] / usage["seconds"])
        self.rss.setdefault(client, []).append(usage["rss"] / 1e6)

    def ratio(self, ours: str, theirs: str) -> float | None:
        """Return the median of the ratios of each round."""
        if ours not in self.cpu or theirs not in self.cpu:
            return None
        return statistics.median(a / b for a, b in zip(self.cpu[ours], self.cpu[theirs], strict=True))


Command = Callable[[int, int, Path], list[str]]
"""Returns a command line for a port, a number of updates and the floor's plan."""


def commands() -> dict[str, Command]:
    found: dict[str, Command] = {name: partial(_client, name) for name in CLIENTS[:2] + CLIENTS[3:6]}
    found["libvncclient"] = partial(_libvncclient, build("clients/libvncclient.c", "-lvncclient"))
    program = floor.build()
    if program is not None:
        found["floor"] = partial(_floor, program)
    return {name: found[name] for name in CLIENTS if name in found}


def _client(name: str, port: int, updates: int, plan: Path) -> list[str]:
    return [sys.executable, "-m", "benchmarks.clients", name, str(port), str(updates)]


def _libvncclient(program: Path, port: int, updates: int, plan: Path) -> list[str]:
    return [str(program), str(port), str(updates), "1", "0"]


def _floor(program: Path, port: int, updates: int, plan: Path) -> list[str]:
    return [str(program), str(port), str(updates), str(plan)]


def measure_row(path: Path, clients: Mapping[str, Command], rounds: int) -> Row | None:
    """Measure all clients that support the form of a capture; None if it has only one update."""
    workload, _, form = path.stem.partition("-")
    updates = min(len(read_capture(path).updates), MOST_UPDATES)
    if updates < 2:
        return None
    row = Row(workload, form)
    taking_part = {name: command for name, command in clients.items() if form in _KNOWS.get(name, (form,))}
    with _replaying_apart(path) as port, tempfile.TemporaryDirectory() as scratch:
        plan = Path(scratch) / "plan"
        floor.write_plan(path, plan)
        for _ in range(rounds):
            for name in list(taking_part):
                wanted = min(updates, _FEW_UPDATES.get(name, updates))
                usage = _run(taking_part[name](port, wanted, plan), wanted)
                if usage is None:
                    del taking_part[name]  # the client failed
                    row.failed.add(name)
                    row.cpu.pop(name, None)
                else:
                    row.add(name, usage)
    return row


@contextmanager
def _replaying_apart(path: Path) -> Iterator[int]:
    """Serve a capture on the first processor; processes that start meanwhile run on the last."""
    processors = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(processors)})
    try:
        with replaying(path) as port:
            os.sched_setaffinity(0, {max(processors)})
            yield port
    finally:
        os.sched_setaffinity(0, processors)


def _run(command: list[str], wanted: int) -> dict[str, float] | None:
    """Run a client, again if it began to measure only after half of the updates."""
    for _ in range(_ATTEMPTS):
        try:
            done = subprocess.run(command, capture_output=True, timeout=_TIMEOUT, check=True, env=ENVIRONMENT)
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
            output = (error.stderr or b"").decode()[-500:]
            print(f"{' '.join(command[2:5])}: {error}\n{output}", file=sys.stderr)
            return None
        usage: dict[str, float] = json.loads(done.stdout)
        if 2 * usage["updates"] >= wanted - 1:
            return usage
    print(f"{' '.join(command[2:5])}: started too late in every attempt", file=sys.stderr)
    return None


def measure(console: Console, rounds: int) -> Report:
    paths = ensure(list(WORKLOADS), console)
    rows = []
    with console.status("measuring") as status:
        clients = commands()
        for path in paths:
            status.update(f"measuring {path.stem}")
            row = measure_row(path, clients, rounds)
            if row is not None:
                rows.append(row)
    return _report(rows)


def _report(rows: list[Row]) -> Report:
    cpu = Table(
        "Client CPU, ms per update (median of rounds)",
        ["workload", "form", *CLIENTS, "÷ libvncclient", "÷ floor"],
    )
    rates = Table("Updates per second, as fast as the client asks", [*_NAMES, *CLIENTS[:-1]])
    memory = Table("Resident memory of a connection, MB", [*_NAMES, *CLIENTS[:-1]])
    for row in rows:
        names = [WORKLOADS[row.workload], FORMS[row.form].title]
        ratios = [_ratio(row.ratio("native", other)) for other in ("libvncclient", "floor")]
        times = ["fails" if client in row.failed else _median(row.cpu.get(client), 3) for client in CLIENTS]
        cpu.rows.append([*names, *times, *ratios])
        rates.rows.append([*names, *(_median(row.rate.get(client), 0) for client in CLIENTS[:-1])])
        memory.rows.append([*names, *(_median(row.rss.get(client), 1) for client in CLIENTS[:-1])])
    mean = _geometric_mean([row.ratio("native", "libvncclient") for row in rows if row.form != "tight-q8"])
    every = _geometric_mean([row.ratio("native", "libvncclient") for row in rows])
    means = f"{_ratio(mean)} over the lossless rows, {_ratio(every)} over all"
    summary = f"Native against libvncclient, geometric mean of the ratios: {means}."
    return Report([cpu, rates, memory], summary)


def _median(values: list[float] | None, digits: int) -> str:
    return f"{statistics.median(values):.{digits}f}" if values else "n/a"


def _ratio(value: float | None) -> str:
    return "n/a" if value is None else f"{value:.2f}"


def _geometric_mean(ratios: list[float | None]) -> float | None:
    known = [math.log(ratio) for ratio in ratios if ratio]
    return math.exp(statistics.mean(known)) if known else None
