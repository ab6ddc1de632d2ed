"""TLS in the native driver's threads against OpenSSL on the event loop, and against no TLS.

The package's own server sends Raw updates, 60 a second, from another process, to an agent whose thread waits (idle) or
computes in plain Python (busy). "Late" is how much later than asked a timer of the event loop is.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

from rich.console import Console

from benchmarks.harness import ENVIRONMENT, serving
from benchmarks.report import Report, Table
from vnc.tls import Identity

RATE = 60
WAYS = {"plain": "none", "core": "in the driver's threads", "openssl": "on the event loop"}
MODES = ("idle", "busy")
SCREENS = ((600, 400, "whole"), (600, 400, "sprite"))
_COLUMNS = [
    "screen",
    "changed",
    "agent",
    "TLS",
    "updates/s",
    "CPU, ms an update",
    "late, p99 ms",
    "late, worst ms",
]

Results = dict[tuple[str, str], list[dict[str, float]]]


def measure(console: Console, rounds: int) -> Report:
    table = Table("One remote at 60 updates/s, with and without TLS", list(_COLUMNS))
    with console.status("measuring"), tempfile.TemporaryDirectory() as scratch:
        identity = _identity(Path(scratch))
        for width, height, area in SCREENS:
            for (mode, way), results in _measured(width, height, area, identity, rounds).items():
                table.rows.append([f"{width}x{height}", area, mode, WAYS[way], *_figures(results)])
    return Report([table])


def _identity(directory: Path) -> Identity:
    identity = Identity(directory / "own.pem", directory / "own.key")
    curve = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
    files = ("-keyout", str(identity.key), "-out", str(identity.certificate))
    command = ["openssl", "req", "-x509", *curve, "-days", "2", "-subj", "/CN=localhost", *files]
    subprocess.run(command, check=True, capture_output=True)
    return identity


def _measured(width: int, height: int, area: str, identity: Identity, rounds: int) -> Results:
    """Return all results by mode and way; all take turns in each round."""
    found: Results = {(mode, way): [] for mode in MODES for way in WAYS}
    command = (sys.executable, "-m", "benchmarks.servers.drawing", str(width), str(height), area, str(RATE))
    with ExitStack() as stack:
        plain = stack.enter_context(serving(*command))
        files = str(identity.certificate), str(identity.key)
        ports = {"plain": plain, "core": stack.enter_context(serving(*command, *files))}
        ports["openssl"] = ports["core"]
        for _ in range(rounds):
            for (mode, way), results in found.items():
                results.append(_client(way, mode, ports[way], identity.fingerprint.hex()))
    return found


def _client(*arguments: str) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.clients.loop", *arguments]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, env=ENVIRONMENT, timeout=300)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def _figures(results: list[dict[str, float]]) -> list[str]:
    rate, cpu, late, worst = (
        statistics.median(each[name] for each in results) for name in ("rate", "cpu", "late", "worst")
    )
    return [f"{rate:.1f}", f"{1000 * cpu:.3f}", f"{1000 * late:.1f}", f"{1000 * worst:.1f}"]
