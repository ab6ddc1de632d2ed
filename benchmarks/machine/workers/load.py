"""NeonDrives in real time, up to more than the machine can hold."""

from __future__ import annotations

import time

import numpy as np

import universe_client
from benchmarks.machine.workers.playing import Figures
from benchmarks.machine.workers.starting import until_running

_RATE, _SECONDS, _WARM_UP = 60, 6.0, 2.0


def neon(count: str) -> Figures:
    """Return the frames per second that arrive at an agent that steps 60 times per second."""
    with universe_client.make("builtin.NeonDrive-v0", int(count)) as env:
        env.reset()
        until_running(env)
        _frames(env, _WARM_UP)
        rates = _frames(env, _SECONDS)
    return {"each": float(rates.mean()), "slowest": float(rates.min()), "in all": float(rates.sum())}


def _frames(env: universe_client.VectorEnv, seconds: float) -> np.ndarray:
    frames = np.zeros(env.n)
    idle: list[list[object]] = [[]] * env.n
    began = due = time.perf_counter()
    while due < began + seconds:
        info = env.step(idle)[3]
        frames += [slot["stats.vnc.updates.n"] for slot in info["n"]]
        due = max(due + 1 / _RATE, time.perf_counter())
        time.sleep(max(0.0, due - time.perf_counter()))
    return frames / (time.perf_counter() - began)
