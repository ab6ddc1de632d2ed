"""What embedded remotes cost before they do anything: memory, and the time until all run."""

from __future__ import annotations

import time
from typing import Any

import universe_client
from benchmarks.machine.processes import CpuMeter, others, pss
from benchmarks.machine.workers.playing import Figures

_TIMEOUT = 180.0


def until_running(env: Any) -> None:
    """Step a `VectorEnv` without actions until every remote has an observation."""
    idle: list[list[object]] = [[]] * env.n
    deadline = time.monotonic() + _TIMEOUT
    while any(observation is None for observation in env.step(idle)[0]):
        if time.monotonic() > deadline:
            raise TimeoutError(f"not all remotes run within {_TIMEOUT:g} s")
        env.wait(0.1, forget=True)


def embedded(env_id: str, count: str) -> Figures:
    cpu, began = CpuMeter(), time.perf_counter()
    with universe_client.make(env_id, int(count)) as env:
        env.reset()
        until_running(env)
        seconds = time.perf_counter() - began
        return {
            "MiB of all remotes (PSS)": pss(others()),
            "s until all run": seconds,
            "CPU s until all run": cpu.seconds(),
        }
