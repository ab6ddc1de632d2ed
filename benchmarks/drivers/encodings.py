"""CPU time of a live Xvnc and of the native driver together, by encoding, workload and link.

CPU time is per second, because on a slow link one update combines several. The server's CPU time excludes drawing,
which it also does without a client. `vnc.encodings.preference("auto", ...)` follows these measurements.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from rich.console import Console

from benchmarks.harness import ENVIRONMENT, cpu_seconds, serving
from benchmarks.report import Report, Table
from benchmarks.servers.capture import until_busy
from benchmarks.servers.xvnc import workload, xvnc
from benchmarks.workloads.names import WORKLOADS
from rewarder.display.xdisplay import XDisplay
from vnc.encodings import CONTINUOUS_UPDATES, COPY_RECT, FENCE, LAST_RECT, RAW, TIGHT, ZRLE, jpeg

SECONDS = 1.5
SHOWN = ("game", "atari", "browser", "terminal")
FORMS: dict[str, tuple[int, ...]] = {
    "Raw": (RAW,),
    "ZRLE": (ZRLE,),
    "Tight lossless": (TIGHT,),
    "Tight q8": (TIGHT, *jpeg(8)),
}
_EXTRAS = (COPY_RECT, LAST_RECT, FENCE, CONTINUOUS_UPDATES)


@dataclass(frozen=True, slots=True)
class Link:
    title: str
    megabits: float | None = None
    """Per second; None for the loopback itself."""
    delay: float = 0.0
    """Milliseconds, each way."""


LINKS = (Link("One host"), Link("50 Mbit/s, 5 ms each way", 50, 5))


def measure(console: Console, rounds: int) -> Report:
    tables = [Table(link.title, ["workload", "encoding", "updates/s", *_COSTS, "Mbit/s"]) for link in LINKS]
    with console.status("measuring") as status:
        for name in SHOWN:
            with xvnc() as screen, workload(screen, name):
                status.update(f"measuring {WORKLOADS[name]}")
                drawing = _drawing(screen)
                for link, table in zip(LINKS, tables, strict=True):
                    with _through(link, screen) as port:
                        table.rows += _rows(name, screen, port, drawing, rounds)
    return Report(tables)


_COSTS = ("server, ms CPU per s", "client, ms CPU per s", "both", "both per update, ms")


def _drawing(screen: XDisplay) -> float:
    """Return the CPU seconds per second of the server without a client."""
    asyncio.run(until_busy(screen))
    before = cpu_seconds(screen.pid)
    time.sleep(SECONDS)
    return (cpu_seconds(screen.pid) - before) / SECONDS


@contextmanager
def _through(link: Link, screen: XDisplay) -> Iterator[int]:
    if link.megabits is None:
        yield screen.port
        return
    numbers = [str(number) for number in (screen.port, link.megabits, link.delay)]
    with serving(sys.executable, "-m", "benchmarks.servers.link", *numbers) as port:
        yield int(port)


def _rows(name: str, screen: XDisplay, port: int, drawing: float, rounds: int) -> list[list[str]]:
    """Return a row for each form; the forms take turns in each round."""
    found: dict[str, list[dict[str, float]]] = {form: [] for form in FORMS}
    for _ in range(rounds):
        for form, encodings in FORMS.items():
            found[form].append(_watch(port, screen.pid, (*encodings, *_EXTRAS)))
    return [[WORKLOADS[name], form, *_figures(results, drawing)] for form, results in found.items()]


def _watch(port: int, server: int, encodings: tuple[int, ...]) -> dict[str, float]:
    arguments = [str(number) for number in (port, SECONDS, server, *encodings)]
    command = [sys.executable, "-m", "benchmarks.clients.watch", *arguments]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, env=ENVIRONMENT, timeout=120)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def _figures(results: list[dict[str, float]], drawing: float) -> list[str]:
    def median(what: str) -> float:
        return statistics.median(result[what] / result["seconds"] for result in results)

    updates, client = median("updates"), median("client")
    server = max(median("server") - drawing, 0.0)
    both = 1000 * (server + client)
    return [
        f"{updates:.1f}",
        f"{1000 * server:.0f}",
        f"{1000 * client:.0f}",
        f"{both:.0f}",
        f"{both / max(updates, 0.1):.2f}",
        f"{median('bytes') * 8 / 1e6:.1f}",
    ]
