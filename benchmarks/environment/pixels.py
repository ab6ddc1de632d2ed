"""CPU time per step, of all threads, to make grey 84x84 frames of 8 screens, beside Gymnasium's wrappers.

Gymnasium's `ResizeObservation` (OpenCV) and `GrayscaleObservation` process all rows. The wrappers of this package
process only the rows with a new frame. The wrapped environment takes no time: it lends the same frames in each step.

The second table has steps of a `GymVectorEnv` whose remotes, in another process, are one screen of 1024x768 in which an
area of 160x210, the screen of an Atari game, changes before each step.
"""

from __future__ import annotations

import asyncio
import contextlib
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space
from gymnasium.wrappers.vector import GrayscaleObservation, ResizeObservation
from rich.console import Console

from benchmarks.harness import first_line
from benchmarks.report import Report, Table
from benchmarks.servers.still import still_rewarder
from universe_client import GymVectorEnv
from universe_client.gym.batch.infos import FRAME_NUMBER
from universe_client.spaces.pixel_box import PixelBox
from vnc.server.server import VNCServer
from wrappers import FrameStack, Grey, Resize

REMOTES = 8
SCREENS = {"320x240": (240, 320, 3), "1024x768": (768, 1024, 3)}
STEPS = 40
_TIMEOUT = 30.0


class Screens(gymnasium.vector.VectorEnv[Any, Any, Any]):
    """An environment with frames of noise, whose first `new` rows have a new frame in every step."""

    metadata: dict[str, Any] = {"autoreset_mode": AutoresetMode.NEXT_STEP}  # noqa: RUF012

    def __init__(self, shape: tuple[int, int, int], new: int) -> None:
        self.num_envs = REMOTES
        self.single_observation_space = PixelBox(shape)
        self.observation_space = batch_space(self.single_observation_space, REMOTES)
        self.single_action_space = gymnasium.spaces.Discrete(2)
        self.action_space = batch_space(self.single_action_space, REMOTES)
        self._frames = np.random.default_rng(0).integers(0, 256, (REMOTES, *shape), np.uint8)
        self._new = np.arange(REMOTES) < new
        self._numbers = np.zeros(REMOTES, np.int64)

    def _infos(self) -> dict[str, Any]:
        return {FRAME_NUMBER: self._numbers.copy(), f"_{FRAME_NUMBER}": np.ones(REMOTES, np.bool_)}

    def reset(self, *, seed: Any = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        return self._frames, self._infos()

    def step(self, actions: Any) -> Any:
        self._numbers += self._new
        nothing = np.zeros(REMOTES, np.bool_)
        return self._frames, np.zeros(REMOTES), nothing, nothing, self._infos()


def _gymnasium(env: Any) -> Any:
    return GrayscaleObservation(ResizeObservation(env, (84, 84)), keep_dim=True)


def _grey_last(env: Any) -> Any:
    return Grey(Resize(env, 84, 84))


def _grey_first(env: Any) -> Any:
    return Resize(Grey(env), 84, 84)


def _stacked(env: Any) -> Any:
    return FrameStack(_grey_first(env), 4)


_STACKED = "Grey, Resize, FrameStack(4)"
WAYS: dict[str, tuple[Callable[[Any], Any], Sequence[int]]] = {
    "gymnasium: ResizeObservation, GrayscaleObservation": (_gymnasium, (REMOTES,)),
    "Resize, Grey": (_grey_last, (REMOTES, 1, 0)),
    "Grey, Resize": (_grey_first, (REMOTES, 1, 0)),
    _STACKED: (_stacked, (REMOTES, 1, 0)),
}


def measure(console: Console, rounds: int) -> Report:
    table = Table("ms per step of 8 remotes", ["screen", "wrappers", "rows with a new frame", "ms", "ratio"])
    with console.status("measuring"):
        for title, shape in SCREENS.items():
            peer = 0.0
            for name, (wrap, news) in WAYS.items():
                for new in news:
                    cost = statistics.median(_cost(wrap(Screens(shape, new))) for _ in range(rounds))
                    peer = peer or cost
                    table.rows.append([title, name, str(new), f"{1000 * cost:.2f}", f"{cost / peer:.2f}"])
        remotes = Table("ms per step of 8 remotes, 160x210 pixels of each changed", ["wrappers", "ms"])
        for name, wrap in {"none": lambda env: env, "Grey, Resize": _grey_first, _STACKED: _stacked}.items():
            remotes.rows.append([name, f"{1000 * _cost_of_remotes(wrap, rounds):.2f}"])
    return Report([table, remotes])


def _cost(env: Any) -> float:
    """Return the CPU seconds per step, of all threads."""
    env.reset()
    actions = np.zeros(REMOTES, np.int64)
    env.step(actions)
    began = time.process_time()
    for _ in range(STEPS):
        env.step(actions)
    return (time.process_time() - began) / STEPS


def _cost_of_remotes(wrap: Callable[[Any], Any], rounds: int) -> float:
    """Return the CPU seconds per step, of all threads, with new frames that have arrived before."""
    with (
        _remotes() as (draw, address),
        GymVectorEnv(None, address, screen_size=(1024, 768), copy=False) as inner,
    ):
        env = wrap(inner)
        env.copy = False
        env.reset()
        costs = []
        for _ in range(rounds * STEPS):
            draw()
            _await_frames(inner)
            began = time.process_time()
            env.step(np.zeros(REMOTES, np.int64))
            costs.append(time.process_time() - began)
    return statistics.median(costs)


def _await_frames(env: GymVectorEnv) -> None:
    deadline = time.monotonic() + _TIMEOUT
    while not all(remote.has_news for remote in env.core.remotes):
        if time.monotonic() > deadline:
            raise TimeoutError(f"no new frames within {_TIMEOUT:g} s")
        env.core.wait(0.1, forget=True)


@contextlib.contextmanager
def _remotes() -> Iterator[tuple[Callable[[], None], str]]:
    """Serve the remotes from another process; yield a function that changes their screen, and their address."""
    with subprocess.Popen(
        [sys.executable, "-m", "benchmarks.environment.pixels"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as far:
        near = far.stdin
        assert near is not None

        def draw() -> None:
            near.write("draw\n")
            near.flush()

        yield draw, first_line(far)


async def _serve() -> None:
    screen, chance = VNCServer(1024, 768), np.random.default_rng(0)
    await screen.start()
    rewarders = [await still_rewarder() for _ in range(REMOTES)]
    frame = np.zeros((768, 1024, 3), np.uint8)
    print("vnc://" + ",".join(f"127.0.0.1:{screen.port}+{each.port}" for each in rewarders), flush=True)
    while await asyncio.to_thread(sys.stdin.readline):
        frame[200:410, 400:560] = chance.integers(0, 256, (210, 160, 3), np.uint8)
        screen.present(frame)


if __name__ == "__main__":
    asyncio.run(_serve())
