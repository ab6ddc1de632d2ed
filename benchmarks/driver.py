"""The drivers: client CPU per update of a whole 320x240 screen, side by side with asyncvnc used on its own."""

from __future__ import annotations

import asyncio
import json
import statistics
import sys
import time
from collections.abc import Awaitable, Callable

import asyncvnc
import numpy as np
from rich.table import Table

from benchmarks.harness import serving
from vnc import drivers
from vnc.session import VNCAddress

UPDATES = 300
ROUNDS = 5
_SERVER = (
    "-m", "rewarder", "serve", "builtin.NeonDrive-v0", "--no-password", "--exit-with-stdin", "--log-level", "error",
)  # fmt: skip


def measure() -> Table:
    with serving(sys.executable, *_SERVER) as line:
        address = VNCAddress("127.0.0.1", json.loads(line)["vnc_port"])
        return _table(asyncio.run(_measure(address)))


async def _measure(address: VNCAddress) -> dict[str, list[float]]:
    """The times of each client."""
    figures: dict[str, list[float]] = {name: [] for name in _CLIENTS}
    for _ in range(ROUNDS):  # interleaved: what slows the machine slows all
        for name, client in _CLIENTS.items():
            figures[name].append(await client(address))
    return figures


def _table(figures: dict[str, list[float]]) -> Table:
    table = Table("client", "CPU, ms per update (median)", "ratio to asyncvnc (median of pairs)")
    for name, times in figures.items():
        ratio = statistics.median(
            ours / theirs for ours, theirs in zip(times, figures["asyncvnc"], strict=True)
        )
        table.add_row(name, f"{statistics.median(times):.3f}", f"{ratio:.2f}")
    return table


async def _cpu_per_update(wait_for_update: Callable[[], Awaitable[object]]) -> float:
    await wait_for_update()
    began = time.process_time()
    for _ in range(UPDATES):
        await wait_for_update()
    return 1000 * (time.process_time() - began) / UPDATES


async def _asyncvnc(address: VNCAddress) -> float:
    async with asyncvnc.connect(address.host, address.port) as client:

        async def update() -> None:
            client.video.refresh()
            await client.read()
            client.video.as_rgba()[:, :, :3].copy()

        return await _cpu_per_update(update)


async def _portable(address: VNCAddress) -> float:
    changed = asyncio.Event()
    session = await drivers.connect("portable")(address, on_change=changed.set)
    frame = np.zeros(session.shape, np.uint8)

    async def update() -> None:
        changed.clear()
        await changed.wait()
        session.take(frame)

    try:
        return await _cpu_per_update(update)
    finally:
        await session.close()


_CLIENTS = {"asyncvnc": _asyncvnc, "portable": _portable}
