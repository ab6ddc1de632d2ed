"""Duration of a step of 64 remotes, per remote, without new frames and with a new frame from every remote.

The remotes, in another process, are one screen of 640x480 with 64 VNC connections, and a rewarder each. The environment
lends its frames (`copy=False`) and the agent sends no actions. When a new square of noise has arrived at all remotes,
one step is timed. The last column copies as many bytes between as many arrays with numpy.
"""

from __future__ import annotations

import asyncio
import contextlib
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

import numpy as np
from rich.console import Console

import universe_client
from benchmarks.harness import first_line
from benchmarks.report import Report, Table
from benchmarks.servers.still import still_rewarder
from universe_client.vector_env import VectorEnv
from vnc.server.server import VNCServer

REMOTES, WIDTH, HEIGHT = 64, 640, 480
STEPS = 60
_SIDES = (16, 64, 160, 480)
_SETTLED = 0.005
_TIMEOUT = 30.0
_IDLE: list[list[object]] = [[]] * REMOTES


def measure(console: Console, rounds: int) -> Report:
    columns = [
        "new pixels",
        "KB a remote",
        "step, µs a remote",
        "beyond a step without",
        "copying as much, µs",
    ]
    table = Table("A step of 64 remotes, medians", columns)
    with (
        console.status("measuring"),
        _remotes() as (draw, address),
        universe_client.make(None, address, copy=False) as env,
    ):
        env.reset()
        _await(env, lambda: all(observation is not None for observation in env.step(_IDLE)[0]))
        at_once = statistics.median(_timed(lambda: env.step(_IDLE)) for _ in range(rounds * STEPS))
        without = statistics.median(_step_settled(env) for _ in range(rounds * STEPS))
        table.rows.append(["none, one step after the other", "0", f"{at_once:.1f}", "", ""])
        table.rows.append(["none", "0", f"{without:.1f}", "", ""])
        for side in _SIDES:
            took = statistics.median(_step_with_news(env, draw, side) for _ in range(rounds * STEPS))
            row = [f"{side}x{side}", f"{side * side * 3 / 1000:.0f}", f"{took:.1f}", f"{took - without:.1f}"]
            table.rows.append([*row, f"{_copying(side):.1f}"])
    return Report([table])


def _step_with_news(env: VectorEnv, draw: Callable[[int], None], side: int) -> float:
    draw(side)
    _await(env, lambda: all(remote.has_news for remote in env.remotes))
    return _step_settled(env)


def _step_settled(env: VectorEnv) -> float:
    """Time a step some milliseconds after the previous one, as agents do, when the CPU caches are cold."""
    env.wait(_SETTLED, forget=True)
    return _timed(lambda: env.step(_IDLE))


def _await(env: VectorEnv, condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _TIMEOUT
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f"the remotes are not ready within {_TIMEOUT:g} s")
        env.wait(0.1, forget=True)


def _timed(function: Callable[[], object]) -> float:
    """Return microseconds per remote."""
    began = time.perf_counter()
    function()
    return (time.perf_counter() - began) / REMOTES * 1e6


def _copying(side: int) -> float:
    source = np.zeros((HEIGHT, WIDTH, 3), np.uint8)
    targets = [np.ones_like(source) for _ in range(REMOTES)]

    def copy() -> None:
        for target in targets:
            target[:side, :side] = source[:side, :side]

    return statistics.median(_timed(copy) for _ in range(STEPS))


@contextlib.contextmanager
def _remotes() -> Iterator[tuple[Callable[[int], None], str]]:
    """Serve the remotes from another process; yield a function that draws on their screen, and their address."""
    with subprocess.Popen(
        [sys.executable, "-m", "benchmarks.environment.steps"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as far:
        near = far.stdin
        assert near is not None

        def draw(side: int) -> None:
            near.write(f"{side}\n")
            near.flush()

        yield draw, first_line(far)


async def _serve() -> None:
    screen, chance = VNCServer(WIDTH, HEIGHT), np.random.default_rng(0)
    await screen.start()
    rewarders = [await still_rewarder() for _ in range(REMOTES)]
    frame = np.zeros((HEIGHT, WIDTH, 3), np.uint8)
    print("vnc://" + ",".join(f"127.0.0.1:{screen.port}+{each.port}" for each in rewarders), flush=True)
    while line := await asyncio.to_thread(sys.stdin.readline):
        side = int(line)
        frame[:side, :side] = chance.integers(0, 256, (side, side, 3), np.uint8)
        screen.present(frame)


if __name__ == "__main__":
    asyncio.run(_serve())
