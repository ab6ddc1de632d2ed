"""The drivers: client CPU per update of a whole 320x240 screen, side by side with asyncvnc used on its own."""

from __future__ import annotations

import asyncio
import statistics
import sys
import time
from collections.abc import Awaitable, Callable

import asyncvnc
import msgspec
import numpy as np
from rich.table import Table

from vnc import drivers
from vnc.session import VNCAddress

UPDATES = 300
ROUNDS = 5


def measure() -> Table:
    return asyncio.run(_measure())


async def _measure() -> Table:
    server, address = await _start_server()
    try:
        figures: dict[str, list[float]] = {name: [] for name in _CLIENTS}
        for _ in range(ROUNDS):  # interleaved: what slows the machine slows all
            for name, client in _CLIENTS.items():
                figures[name].append(await client(address))
    finally:
        server.stdin.close()
        await server.wait()
    return _table(figures)


def _table(figures: dict[str, list[float]]) -> Table:
    table = Table("client", "CPU, ms per update (median)", "ratio to asyncvnc (median of pairs)")
    for name, times in figures.items():
        ratio = statistics.median(
            ours / theirs for ours, theirs in zip(times, figures["asyncvnc"], strict=True)
        )
        table.add_row(name, f"{statistics.median(times):.3f}", f"{ratio:.2f}")
    return table


async def _start_server() -> tuple[asyncio.subprocess.Process, VNCAddress]:
    server = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "rewarder", "serve", "builtin.NeonDrive-v0", "--no-password", "--exit-with-stdin",
        "--log-level", "error",
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    ports = msgspec.json.decode(await server.stdout.readline())
    return server, VNCAddress("127.0.0.1", ports["vnc_port"])


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
