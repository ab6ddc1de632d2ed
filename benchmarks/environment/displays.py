"""Programs on an X display: what a changed 1024x768 screen costs, and the time from key to pixel.

The agent connects to Xvnc itself, in Raw, or to the mirror, as agents on the same host do. The CPU time is that of both
ends: this process, the remote and Xvnc, without the program that draws.
"""

from __future__ import annotations

import asyncio
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import msgspec
import numpy as np
from rich.console import Console

from benchmarks.machine.processes import CpuMeter, named
from benchmarks.report import Report, Table
from rewarder.serving import Ready, Request, Serving
from vnc import drivers
from vnc.encodings import preference
from vnc.events import KeyEvent
from vnc.session import Session, VNCAddress

SECONDS = 4.0
KEYS = 40
PAUSE = 0.05
HOST = "127.0.0.1"
T = TypeVar("T")


def measure(console: Console, rounds: int) -> Report:
    screens: dict[str, list[tuple[float, float]]] = {"Xvnc, Raw": [], "mirror": []}
    keys: dict[str, list[float]] = {name: [] for name in screens}
    with console.status("measuring"):
        for _ in range(rounds):
            for name, found in screens.items():
                found.append(_with("game", name, _screens))
            for name, times in keys.items():
                times += _with("keys", name, _keys)
    costs = {name: statistics.median(cost for cost, _ in found) for name, found in screens.items()}
    waits = {name: statistics.median(times) for name, times in keys.items()}
    table = Table(
        "the agent connects to",
        ["server", "CPU ms a screen", "of Raw", "screens/s", "ms key to pixel", "of Raw"],
    )
    for name, found in screens.items():
        cost, wait, rate = costs[name], waits[name], statistics.median(rate for _, rate in found)
        shares = f"{cost / costs['Xvnc, Raw']:.2f}", f"{wait / waits['Xvnc, Raw']:.2f}"
        table.rows.append([name, f"{cost:.2f}", shares[0], f"{rate:.1f}", f"{wait:.2f}", shares[1]])
    return Report([table])


def _with(workload: str, server: str, work: Callable[[Session, asyncio.Event], Awaitable[T]]) -> T:
    """Run `work` with a session to one of the servers of a remote that runs a workload."""

    async def run(ready: Ready) -> T:
        changed = asyncio.Event()
        port = ready.mirror_port if server == "mirror" else ready.vnc_port
        session = await drivers.connect("native")(
            VNCAddress(HOST, port),
            on_change=changed.set,
            encodings=preference("auto" if server == "mirror" else "raw", None, HOST),
        )
        try:
            await changed.wait()
            await asyncio.sleep(1)  # for the workload to draw its first screen
            return await work(session, changed)
        finally:
            await session.close()

    with _remote(workload) as ready:
        return asyncio.run(run(ready))


@contextmanager
def _remote(workload: str) -> Iterator[Ready]:
    """Serve a workload's program at 30 screens per second, without a password."""
    program = [sys.executable, "-m", f"benchmarks.workloads{'.keys' if workload == 'keys' else ''}"]
    arguments = [] if workload == "keys" else [workload, "30"]
    request = Request(env_id="process.workload", serving=Serving(program=[*program, *arguments]))
    command = [sys.executable, "-m", "rewarder"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin and process.stdout
        process.stdin.write(msgspec.json.encode(request) + b"\n")
        process.stdin.flush()
        yield msgspec.json.decode(process.stdout.readline(), type=Ready)
        process.stdin.close()


async def _screens(session: Session, changed: asyncio.Event) -> tuple[float, float]:
    """Take every frame; return milliseconds of CPU time per screen, and screens per second."""
    frame = np.zeros(session.shape, np.uint8)
    session.take(frame)
    meter = CpuMeter(without=named("benchmarks.workloads"))
    began, before = time.monotonic(), session.stats.pixels
    while time.monotonic() < began + SECONDS:
        changed.clear()
        await changed.wait()
        session.take(frame)
    seconds = time.monotonic() - began
    screens = (session.stats.pixels - before) / (frame.size / 3)
    return 1000 * meter.seconds() / screens, screens / seconds


async def _keys(session: Session, changed: asyncio.Event) -> list[float]:
    """Press keys; return the milliseconds until the pixel that each changes is here."""
    frame = np.zeros(session.shape, np.uint8)
    times = []
    for _ in range(KEYS):
        await asyncio.sleep(PAUSE)
        session.take(frame)
        before = tuple(frame[8, 8])
        pressed = time.monotonic()
        session.send([KeyEvent.by_name(" ", True), KeyEvent.by_name(" ", False)])
        while tuple(frame[8, 8]) == before:
            changed.clear()
            await asyncio.wait_for(changed.wait(), 10)
            session.take(frame)
        times.append(1000 * (session.frame_time - pressed))
    return times
