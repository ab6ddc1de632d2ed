"""CPU time of the package's own server and of the native driver per frame, on one host: shared memory against Raw.

The server's time includes the copy of the program's frame and its comparison with the frame before.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys

from rich.console import Console

from benchmarks.harness import ENVIRONMENT
from benchmarks.report import Report, Table
from vnc.encodings import COPY_RECT, FENCE, RAW, SHARED_FRAMES

SECONDS = 3.0
SCREENS = ((160, 210), (600, 400), (1024, 768))
AREAS = {"whole": "the whole screen", "sprite": "32x32 pixels"}
WAYS: dict[str, tuple[int, ...]] = {
    "Raw": (COPY_RECT, RAW, FENCE),
    "shared": (SHARED_FRAMES, COPY_RECT, RAW, FENCE),
}
_COLUMNS = ["screen", "changed", "pixels by", "server, ms", "client, ms", "both, ms", "of Raw"]


def measure(console: Console, rounds: int) -> Report:
    table = Table("CPU time per frame on one host", _COLUMNS)
    with console.status("measuring"):
        for width, height in SCREENS:
            for area, changed in AREAS.items():
                found = _medians(width, height, area, rounds)
                raw = sum(found["Raw"])
                for way, (server, client) in found.items():
                    figures = [f"{1000 * cost:.3f}" for cost in (server, client, server + client)]
                    share = f"{(server + client) / raw:.2f}"
                    table.rows.append([f"{width}x{height}", changed, way, *figures, share])
    return Report([table])


def _medians(width: int, height: int, area: str, rounds: int) -> dict[str, tuple[float, float]]:
    """Return the seconds of server and client for a frame, by way; the ways take turns in each round."""
    found: dict[str, list[dict[str, float]]] = {way: [] for way in WAYS}
    command = [sys.executable, "-m", "benchmarks.servers.drawing", str(width), str(height), area]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=ENVIRONMENT
    ) as server:
        assert server.stdout is not None
        port = int(server.stdout.readline())
        for _ in range(rounds):
            for way, encodings in WAYS.items():
                found[way].append(_watch(port, server.pid, encodings))
    return {way: (_median(results, "server"), _median(results, "client")) for way, results in found.items()}


def _watch(port: int, server: int, encodings: tuple[int, ...]) -> dict[str, float]:
    arguments = [str(number) for number in (port, SECONDS, server, *encodings)]
    command = [sys.executable, "-m", "benchmarks.clients.watch", *arguments]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, env=ENVIRONMENT, timeout=120)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def _median(results: list[dict[str, float]], side: str) -> float:
    return statistics.median(result[side] / max(result["updates"], 1) for result in results)
