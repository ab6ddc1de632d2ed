"""Many remotes that another process serves: small grey pictures of large screens, and steps without new frames.

`python -m benchmarks.machine.workers.screens SCREENS REMOTES WIDTH HEIGHT` serves the remotes.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

import universe_client
from benchmarks.harness import serving
from benchmarks.machine.workers.names import attribute
from benchmarks.machine.workers.playing import Figures
from benchmarks.machine.workers.starting import until_running
from rewarder.protocol.messages import Describe
from universe_client import GymVectorEnv
from wrappers import FrameStack, Grey, Resize

_RATE = 15
_SECONDS = 6.0
_STEPS = 2000
_DAMAGE = 160, 210
_STACKED, _IDLE = 8, 64


def stacks() -> Figures:
    """Measure the CPU time of the agent's process for a new frame of every screen, with its transport and decoding."""
    with _served(_STACKED, _STACKED, 1024, 768) as address:
        env: Any = GymVectorEnv(None, address, step_rate=_RATE)
        env = FrameStack(Resize(Grey(env), 84, 84), 4)
        env.reset()
        actions = np.zeros(env.action_space.shape, env.action_space.dtype)
        for _ in range(_RATE):
            env.step(actions)
        frames, began, cpu = 0, time.monotonic(), time.process_time()
        while time.monotonic() - began < _SECONDS:
            *_, infos = env.step(actions)
            frames += int(np.count_nonzero(infos["stats.vnc.updates.n"]))
        used = time.process_time() - cpu
        env.close()
    return {"CPU ms of the agent, 8 new frames": 1000 * used / frames * _STACKED}


def idle_steps() -> Figures:
    """Measure the CPU time of the agent's thread in steps of 64 remotes that have nothing new."""
    idle: list[list[object]] = [[]] * _IDLE
    with (
        _served(1, _IDLE, 640, 480) as address,
        universe_client.make(None, address, copy=False) as env,
    ):
        env.reset()
        until_running(env)
        times = []
        for _ in range(_STEPS):
            began = time.thread_time()
            env.step(idle)
            times.append(time.thread_time() - began)
    return {"CPU µs a remote": 1e6 * statistics.median(times) / _IDLE}


@contextmanager
def _served(screens: int, remotes: int, width: int, height: int) -> Iterator[str]:
    numbers = [str(number) for number in (screens, remotes, width, height)]
    with serving(sys.executable, "-m", "benchmarks.machine.workers.screens", *numbers) as address:
        yield address


async def _serve(screens: int, remotes: int, width: int, height: int) -> None:
    server = attribute("VNCServer", "vnc.server.server", "vnc.server")
    shown = [server(width, height) for _ in range(screens)]
    for screen in shown:
        await screen.start()
    rewarders = [await _rewarder() for _ in range(remotes)]
    ports = [
        f"127.0.0.1:{shown[index % screens].port}+{rewarder.port}" for index, rewarder in enumerate(rewarders)
    ]
    print("vnc://" + ",".join(ports), flush=True)
    drawing = asyncio.create_task(_draw(shown, width, height)) if screens > 1 else None
    await asyncio.to_thread(sys.stdin.read)
    if drawing:
        drawing.cancel()


async def _draw(shown: list[Any], width: int, height: int) -> None:
    """Change a part of every screen, as large as a screen of an Atari console."""
    chance, frame = np.random.default_rng(0), np.zeros((height, width, 3), np.uint8)
    columns, rows = _DAMAGE
    while True:
        frame[200 : 200 + rows, 300 : 300 + columns] = chance.integers(0, 256, (rows, columns, 3), np.uint8)
        for screen in shown:
            screen.present(frame)
        await asyncio.sleep(1 / _RATE)


async def _rewarder() -> Any:
    episode_id = attribute("EpisodeId", "rewarder.protocol.episode", "rewarder.episode").parse(1)
    server = attribute("RewarderServer", "rewarder.server.server", "rewarder.server")

    def answer(request: Any) -> None:
        rewarder.describe(episode_id, Describe("benchmark.Still-v0", "running", 60.0))
        rewarder.reply_reset(request, episode_id)

    rewarder = server(password=None, on_reset=answer)
    await rewarder.start()
    return rewarder


if __name__ == "__main__":
    asyncio.run(_serve(*(int(argument) for argument in sys.argv[1:])))
