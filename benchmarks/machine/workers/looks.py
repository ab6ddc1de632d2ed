"""How old the pixels are that an agent sees, which looks less often than the screen changes.

The screen shows its own time, in milliseconds, in the colour of a pixel.
"""

from __future__ import annotations

import asyncio
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from benchmarks.machine.workers.ours import FPS, LOOKS
from benchmarks.machine.workers.playing import Figures
from universe_client import GymVectorEnv
from vnc.server.server import VNCServer

_WARM_UP, _COUNT = 20, 150
_RANGE = 1 << 24
"""Milliseconds after which the shown time begins again."""


def age(updates: str = "") -> Figures:
    """Return the age of the pixels at a look, and how many updates there were for each."""
    options: dict[str, Any] = {"updates": updates} if updates else {}
    with _screen() as port:
        env = GymVectorEnv(None, f"vnc://127.0.0.1:{port}", step_rate=LOOKS, actions=[()], **options)
        with env:
            env.reset()
            looks = [_look(env) for _ in range(_WARM_UP + _COUNT)][_WARM_UP:]
    ages = sorted(age for age, _ in looks)
    return {
        "age of the pixels, median ms": statistics.median(ages),
        "age of the pixels, 9th decile, ms": ages[len(ages) * 9 // 10],
        "updates for each look": statistics.mean(count for _, count in looks),
    }


def _look(env: GymVectorEnv) -> tuple[float, float]:
    observations, _, _, _, infos = env.step(env.action_space.sample())
    red, green, blue = observations[0, 0, 0].tolist()
    shown = red << 16 | green << 8 | blue
    return (_milliseconds() - shown) % _RANGE, float(infos["stats.vnc.updates.n"][0])


@contextmanager
def _screen() -> Iterator[int]:
    """Show the time in another process; yield the port."""
    command = [sys.executable, "-c", "from benchmarks.machine.workers.looks import show; show()"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield int(process.stdout.readline())
        finally:
            process.kill()


def show() -> None:
    """Show the time, `FPS` times a second, and print the port; it does not return."""
    asyncio.run(_show())


async def _show() -> None:
    server = VNCServer(160, 210)
    await server.start()
    print(server.port, flush=True)
    frame, due = np.zeros((210, 160, 3), np.uint8), time.monotonic()
    while True:
        shown = _milliseconds()
        frame[:40] = shown >> 16, shown >> 8 & 255, shown & 255
        server.present(frame)
        due = max(due + 1 / FPS, time.monotonic())
        await asyncio.sleep(due - time.monotonic())


def _milliseconds() -> int:
    """The clock that all processes of a host share, on Linux."""
    return int(1000 * time.monotonic()) % _RANGE
