"""Remotes that one core of client CPU holds at 60 updates a second.

One client process holds the remotes for a few seconds. Each remote is a replay that sends 60 updates a second from
another process (benchmarks/servers/pacer.c): in answer to requests, or without them to a client that asks for
ContinuousUpdates, as TigerVNC does; libvncclient does not ask. "Updates/s each" shows whether the client kept up.
"Would fill a core" is the number of remotes divided by the share of a core they took. It is an extrapolation, and is
missing for remotes that received less than 95 % of their updates. Client and pacer need a core each.
"""

from __future__ import annotations

import json
import statistics
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console

from benchmarks.harness import ENVIRONMENT, build, serving
from benchmarks.report import Report, Table
from benchmarks.servers.capture import FORMS, ensure, path_of
from benchmarks.workloads.names import WORKLOADS
from vnc.capture.capture import read_capture

RATE = 60.0
SECONDS = 3.0
_HELD = 0.95
_FOREVER = 1_000_000  # updates; SECONDS ends the run
_STREAMS = (
    ("atari", "tight", 64),
    ("atari", "tight", 300),
    ("game", "tight", 12),
    ("game", "tight", 24),
    ("game", "zrle", 12),
)
_CLIENTS = ("native", "native+take", "libvncclient")
_COLUMNS = [
    "workload",
    "form",
    "client",
    "remotes",
    "updates/s each",
    "of a core",
    "would fill a core",
    "MB each",
]
_TIMEOUT = 120.0


def measure(console: Console, rounds: int) -> Report:
    ensure(["atari", "game"], console)
    table = Table("Remotes at 60 updates/s", list(_COLUMNS))
    harness = str(build("clients/libvncclient.c", "-lvncclient"))
    with console.status("measuring") as status:
        for workload, form, remotes in _STREAMS:
            status.update(f"measuring {workload}, {form}")
            for client, usages in _measured(path_of(workload, form), remotes, harness, rounds).items():
                table.rows.append(
                    [WORKLOADS[workload], FORMS[form].title, client, str(remotes), *_figures(usages, remotes)]
                )
    return Report([table])


@contextmanager
def paced(path: Path, remotes: int) -> Iterator[int]:
    """Serve a capture at RATE to `remotes` clients at a time; yield the port."""
    capture = read_capture(path)
    size = capture.header.width, capture.header.height
    with sending(size, [bytes(update.data) for update in capture.updates], remotes, RATE) as port:
        yield port


@contextmanager
def sending(
    size: tuple[int, int], updates: Sequence[bytes], remotes: int, rate: float, repeat: bool = False
) -> Iterator[int]:
    """Serve a screen of `size` (width, height) to `remotes` clients at a time, `rate` updates a second; yield the port.

    With `repeat` it begins again after its end, and when a client requests the whole screen.
    """
    with tempfile.TemporaryDirectory() as scratch:
        stream = Path(scratch) / "stream"
        lengths = [struct.pack("<I", len(update)) + update for update in updates]
        stream.write_bytes(struct.pack("<II", *size) + b"".join(lengths))
        command = [str(build("servers/pacer.c")), str(stream), str(rate), str(remotes)]
        with serving(*command, *["repeat"] * repeat) as port:
            yield int(port)


def _measured(path: Path, remotes: int, harness: str, rounds: int) -> dict[str, list[dict[str, float]]]:
    found: dict[str, list[dict[str, float]]] = {client: [] for client in _CLIENTS}
    with paced(path, remotes) as port:
        for _ in range(rounds):
            for client in _CLIENTS:
                start = (
                    [harness]
                    if client == "libvncclient"
                    else [sys.executable, "-m", "benchmarks.clients", client]
                )
                numbers = [str(number) for number in (port, _FOREVER, remotes, SECONDS)]
                done = subprocess.run(
                    [*start, *numbers],
                    stdout=subprocess.PIPE,
                    timeout=_TIMEOUT,
                    check=True,
                    env=ENVIRONMENT,
                )
                found[client].append(json.loads(done.stdout))
    return found


def _figures(usages: list[dict[str, float]], remotes: int) -> list[str]:
    rate = statistics.median(usage["updates"] / usage["seconds"] / remotes for usage in usages)
    share = statistics.median(usage["cpu"] / usage["seconds"] for usage in usages)
    cost = statistics.median(usage["cpu"] / usage["updates"] for usage in usages)
    memory = statistics.median(usage["rss"] for usage in usages) / 1e6
    filled = f"{1 / (RATE * cost):.0f}" if rate > _HELD * RATE else "not held"
    return [f"{rate:.1f}", f"{100 * share:.0f} %", filled, f"{memory:.1f}"]
