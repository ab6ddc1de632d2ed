"""An agent with many remotes, in its own process: `python -m benchmarks.clients.crowd ADDRESS WxH VIEW BATCH SECONDS`.

It answers each remote's frame as soon as it can, in batches of at most BATCH rows, and prints JSON: a `Crowd`. VIEW is
`whole` for RGB pixels, or `small` for 84x84 grey ones.
"""

from __future__ import annotations

import json
import os
import sys
import time
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from benchmarks.clients.meter import PATIENT, Meter
from universe_client import GymVectorEnv
from wrappers import Grey, Resize

_SIDE = 84
_WARM_UP = 1.0
_WAIT = 1.0  # of one recv


@dataclass(slots=True)
class Crowd:
    """What an agent measured over its remotes."""

    steps: float
    """Steps per second, of all remotes: rows that `recv` returned with something new."""
    slowest: float
    """Steps per second of the remote with the fewest."""
    batch: float
    """Rows that a `recv` returned, on average."""
    cpu: float
    """CPU time of the agent's process in a step of one remote, in seconds."""
    memory: float
    """Resident bytes per remote, beyond the process before it made the environment."""
    files: float
    """Open file descriptors per remote, beyond those before."""
    start: float
    """Seconds until the last remote had its first frame."""


def play(address: str, screen: tuple[int, int], view: str, batch: int, seconds: float) -> Crowd:
    files, remotes = _open_files(), address.count(",") + 1
    meter = Meter(remotes)
    began = time.perf_counter()
    whole = GymVectorEnv(
        None, address, screen_size=screen, copy=False, encoding="raw", timeouts=PATIENT, reset_timeout=600.0
    )
    env = Resize(Grey(whole), width=_SIDE, height=_SIDE) if view == "small" else whole
    try:
        env.reset()
        start = time.perf_counter() - began
        shape = env.observation_space.shape or ()
        out = np.empty((min(batch, remotes), *shape[1:]), np.uint8)
        env.send(np.zeros(remotes, np.int64))
        _serve(env, out, _WARM_UP)
        opened = _open_files() - files
        meter.begin(0)
        served, batches = _serve(env, out, seconds)
        usage = meter.usage(0, time.monotonic())
    finally:
        env.close()
    steps = float(served.sum())
    return Crowd(
        steps / usage.seconds,
        float(served.min()) / usage.seconds,
        steps / max(batches, 1),
        usage.cpu / max(steps, 1),
        usage.rss,
        opened / remotes,
        start,
    )


def _serve(env: Any, out: np.ndarray, seconds: float) -> tuple[np.ndarray, int]:
    """Answer frames for some seconds; return how many of each remote, and in how many batches."""
    served, batches = np.zeros(env.num_envs, np.int64), 0
    deadline = time.perf_counter() + seconds
    while time.perf_counter() < deadline:
        ids = env.recv(min_ready=1, timeout=_WAIT, max_ready=len(out), out=out)[4]["env_id"]
        served[ids] += 1
        batches += 1
        env.send(np.zeros(len(ids), np.int64), ids)
    return served, batches


def _open_files() -> int:
    return len(os.listdir("/proc/self/fd"))


def main() -> None:
    address, screen, view, batch, seconds = sys.argv[1:]
    width, _, height = screen.partition("x")
    print(json.dumps(asdict(play(address, (int(width), int(height)), view, int(batch), float(seconds)))))


if __name__ == "__main__":
    main()
