"""Updates per second and latency of a driver while the agent's thread computes in Python and holds the GIL.

The streams are a busy game in Raw, which all drivers support, at 60 updates per second and as fast as the client
requests them, and small Atari-like updates as fast as requested. The latency is the time from a key press to the pixel
that it changes on a live Xvnc. Without a pause between updates, server, driver and a busy agent need three cores.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from benchmarks.harness import ENVIRONMENT
from benchmarks.report import Report, Table
from benchmarks.servers.capture import ensure, path_of
from benchmarks.servers.replaying import replaying
from benchmarks.servers.xvnc import program, xvnc
from vnc.capture.capture import read_capture

DRIVERS = ("native", "portable", "asyncvnc")
MODES = ("idle", "busy")
_TIMEOUT = 300.0


@dataclass(frozen=True, slots=True)
class Stream:
    title: str
    path: Path
    rate: float | None
    """Updates per second; None for as fast as requested."""


def _streams() -> list[Stream]:
    game, atari = path_of("game", "raw"), path_of("atari", "raw")
    return [
        Stream("busy game at 60/s", game, 60.0),
        Stream("busy game", game, None),
        Stream("Atari-like", atari, None),
    ]


def pace(path: Path, rate: float | None) -> float | None:
    """Return the replay speed at which a capture has `rate` updates per second."""
    capture = read_capture(path)
    return None if rate is None else rate * capture.seconds / max(len(capture.updates) - 1, 1)


def measure(console: Console, rounds: int) -> Report:
    ensure(["game", "atari"], console)
    with console.status("measuring") as status:
        rates = Table("Updates per second", ["stream", "driver", *MODES, "busy ÷ idle"])
        for stream in _streams():
            status.update(f"measuring {stream.title}")
            with replaying(stream.path, pace(stream.path, stream.rate), repeat=True) as port:
                _add_rates(rates, stream, port, rounds)
        status.update("measuring keys")
        keys = Table("From key to pixel on Xvnc, ms", ["driver", "idle", "idle, p95", "busy", "busy, p95"])
        with _key_screen() as port:
            for driver, times in _measured("keys", port, rounds).items():
                keys.rows.append([driver, *(text for mode in MODES for text in _quantiles(times[mode]))])
    return Report([rates, keys])


def _add_rates(table: Table, stream: Stream, port: int, rounds: int) -> None:
    for driver, found in _measured("rate", port, rounds).items():
        idle, busy = (statistics.median(found[mode]) for mode in MODES)
        table.rows.append(
            [stream.title, driver, f"{idle:.1f}", f"{busy:.1f}", f"{busy / max(idle, 1e-9):.2f}"]
        )


@contextmanager
def _key_screen() -> Iterator[int]:
    with xvnc() as screen, program(screen, sys.executable, "-m", "benchmarks.workloads.keys"):
        yield screen.port


def _measured(what: str, port: int, rounds: int) -> dict[str, dict[str, list[float]]]:
    """Return all results by driver and mode; all take turns in each round."""
    found: dict[str, dict[str, list[float]]] = {driver: {mode: [] for mode in MODES} for driver in DRIVERS}
    for _ in range(rounds):
        for driver in DRIVERS:
            for mode in MODES:
                found[driver][mode] += _agent(what, driver, mode, port)
    return found


def _agent(what: str, driver: str, mode: str, port: int) -> list[float]:
    command = [sys.executable, "-m", "benchmarks.clients.agent", what, driver, mode, str(port)]
    done = subprocess.run(command, stdout=subprocess.PIPE, timeout=_TIMEOUT, check=True, env=ENVIRONMENT)
    result = json.loads(done.stdout)
    return result if isinstance(result, list) else [result]


def _quantiles(times: list[float]) -> tuple[str, str]:
    return f"{1000 * statistics.median(times):.1f}", f"{1000 * statistics.quantiles(times, n=20)[18]:.1f}"
