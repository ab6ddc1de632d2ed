"""Play an environment with random actions for some seconds."""

from __future__ import annotations

import json
import time
import urllib.request
from contextlib import closing
from typing import Any

from benchmarks.machine.processes import CpuMeter

SECONDS = 5.0
_WARM_UP = 20
Figures = dict[str, float]


def as_fast_as_possible(env: Any, remotes: int, frames: int = 1) -> Figures:
    """Return the frames per second of all remotes, and their cost; close `env`.

    Args:
        env: a vector environment of Gymnasium.
        remotes: how many environments it has.
        frames: frames of the game in each step.
    """
    with closing(env):
        env.reset(seed=1)
        env.action_space.seed(1)
        for _ in range(_WARM_UP):
            env.step(env.action_space.sample())
        steps, cpu, began = 0, CpuMeter(), time.perf_counter()
        while time.perf_counter() - began < SECONDS:
            env.step(env.action_space.sample())
            steps += 1
        seconds, used = time.perf_counter() - began, cpu.seconds()
    played = steps * remotes * frames
    return {"frames/s in all": played / seconds, "CPU µs a frame, all processes": 1e6 * used / played}


def in_real_time(env: Any, core: Any) -> Figures:
    """Return the CPU time of all processes for each frame of each remote, and the frame rate; close `env`.

    Args:
        env: a vector environment of Gymnasium, with a `step_rate`.
        core: the remotes under it.
    """
    with closing(env):
        env.reset(seed=1)
        env.action_space.seed(1)
        for _ in range(_WARM_UP):
            env.step(env.action_space.sample())
        cpu, began = CpuMeter(), time.perf_counter()
        while time.perf_counter() - began < SECONDS:
            env.step(env.action_space.sample())
        seconds, used = time.perf_counter() - began, cpu.seconds()
        rates = [_ticks(remote) for remote in core.remotes]
    return {
        "CPU ms a frame, all processes": 1000 * used / seconds / sum(rates),
        "% of a core": 100 * used / seconds,
        "frames/s of the slowest remote": min(rates),
    }


def _ticks(remote: Any) -> float:
    """Return the ticks per second that the health page of a remote reports."""
    port = remote.link.address.rewarder.port
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz") as page:
        return float(json.load(page)["ticks_per_second"])
