"""Steps per second of lock-step remotes on this host, exact to the tick.

`AsyncVectorEnv` is Gymnasium's. Like lock-step remotes, it runs a process per environment, which draws the same frames
in each step; with both, they reach the agent in shared memory. Both wait for the slowest environment of each step. Most
of the time of CartPole's step is drawing its 600x400 pixels.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import gymnasium
import numpy as np
from rich.console import Console

from benchmarks.report import Report, Table
from universe_client import GymVectorEnv

CARTPOLE = "CartPole-v1"
COUNTS = (1, 4, 8)
SECONDS = 3.0
WARM_UP = 20


def measure(console: Console, rounds: int) -> Report:
    table = Table(
        f"Steps per second, median of {rounds} rounds",
        ["environment", "remotes", "steps/s", "ticks/s", "ratio"],
    )
    for count in COUNTS:
        peer = _median(partial(_rendering_vector, count), rounds)
        table.rows.append(_row("AsyncVectorEnv, CartPole-v1 with its pixels", count, peer, peer))
        ours = _median(partial(_remotes, f"gym-core.{CARTPOLE}", count), rounds)
        table.rows.append(_row("lock-step, gym-core.CartPole-v1", count, ours, peer))
    for count in COUNTS:
        rate = _median(partial(_remotes, "builtin.NeonDrive-v0", count), rounds)
        table.rows.append([*_row("lock-step, builtin.NeonDrive-v0", count, rate, rate)[:-1], ""])
    return Report([table])


def _row(name: str, count: int, rate: float, peer: float) -> list[str]:
    return [name, str(count), f"{rate:.0f}", f"{rate * count:.0f}", f"{rate / peer:.2f}"]


def _median(make: Callable[[], gymnasium.vector.VectorEnv[Any, Any, Any]], rounds: int) -> float:
    return statistics.median(_rate(make()) for _ in range(rounds))


def _rendering_vector(count: int) -> gymnasium.vector.VectorEnv[Any, Any, Any]:
    return gymnasium.vector.AsyncVectorEnv([_rendering_env] * count)


def _rendering_env() -> gymnasium.Env[Any, Any]:
    env = gymnasium.make(CARTPOLE, render_mode="rgb_array")
    return gymnasium.wrappers.AddRenderObservation(env, render_only=True)


def _remotes(env_id: str, count: int) -> gymnasium.vector.VectorEnv[Any, Any, Any]:
    return GymVectorEnv(env_id, count, mode="lockstep", actions=["Left", "Right"])


def _rate(env: gymnasium.vector.VectorEnv[Any, Any, Any]) -> float:
    """Step with random actions, and close `env`; return steps per second."""
    dice = np.random.default_rng(0)
    env.reset(seed=1)
    steps, began = -WARM_UP, time.perf_counter()
    while steps < 0 or time.perf_counter() - began < SECONDS:
        if steps == 0:
            began = time.perf_counter()
        env.step(dice.integers(0, 2, env.num_envs))
        steps += 1
    rate = steps / (time.perf_counter() - began)
    env.close()
    return rate
