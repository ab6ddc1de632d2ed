"""A program on an X display of a `process:` remote: what a changed screen costs, and the time from key to pixel."""

from __future__ import annotations

import os
import random
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import universe_client
from benchmarks.machine.processes import CpuMeter, named
from benchmarks.machine.workers.playing import Figures
from benchmarks.machine.workers.starting import until_running

_SECONDS = 5.0
_RATE = 30
"""Screens drawn per second: few enough that every one is an update also on a busy machine."""
_KEYS = 60
_KEY_TIMEOUT = 3.0
_PAUSE = 0.02, 0.06
"""Seconds between keys; random, so that they do not synchronize with the frames."""


def screen(encoding: Literal["auto", "raw"]) -> Figures:
    """Measure screens of a scrolling game, without the CPU time of the program that draws them."""
    with (
        _program("benchmarks.workloads", "game", str(_RATE)) as env_id,
        universe_client.make(env_id, "process:1", encoding=encoding) as env,
    ):
        env.reset()
        until_running(env)
        _look(env, 1.0)
        cpu = CpuMeter(without=named("benchmarks.workloads"))
        screens = _look(env, _SECONDS)
        used = cpu.seconds()
    return {"CPU ms a screen, both ends": 1000 * used / screens, "screens/s": screens / _SECONDS}


def _look(env: Any, seconds: float) -> int:
    """Take every frame; return how many arrived."""
    frames, shown, began = 0, b"", time.monotonic()
    while time.monotonic() - began < seconds:
        env.wait(0.1)
        before, shown = shown, env.step([[]])[0][0]["vision"][::64, ::64].tobytes()
        frames += shown != before
    return frames


@contextmanager
def _program(*module: str) -> Iterator[str]:
    """Put a module and its arguments on the PATH as a program; yield the env id that runs it."""
    with tempfile.TemporaryDirectory() as scratch:
        name = "universe-benchmark"
        script = Path(scratch) / name
        command = f"exec {sys.executable} -m {' '.join(module)}"
        script.write_text(f"#!/bin/sh\ncd {Path.cwd()}\n{command}\n")
        script.chmod(0o755)
        os.environ["PATH"] = f"{scratch}:{os.environ['PATH']}"
        yield f"process.{name}"


def keys(agent: Literal["idle", "busy"]) -> Figures:
    """Measure from a key press to the frame in which the program has answered it."""
    wait = _wait_idle if agent == "idle" else _wait_busy
    chance = random.Random(1)
    with _program("benchmarks.workloads.keys") as env_id, universe_client.make(env_id, "process:1") as env:
        env.reset()
        until_running(env)
        while max(_pixel(env)) < 255:
            env.wait(0.1, forget=True)
        times = sorted(_key(env, wait, chance) for _ in range(_KEYS))
    return {"ms from key to pixel": 1000 * times[_KEYS // 2], "p95": 1000 * times[_KEYS * 95 // 100]}


def _key(env: Any, wait: Any, chance: random.Random) -> float:
    wait(env, chance.uniform(*_PAUSE))
    before = _pixel(env)
    pressed = time.monotonic()
    deadline = pressed + _KEY_TIMEOUT
    env.step([[("KeyEvent", " ", True), ("KeyEvent", " ", False)]])
    while _pixel(env) == before:
        if time.monotonic() > deadline:
            return _KEY_TIMEOUT
        wait(env, 0.0)
    return float(env.remotes[0].link.session.frame_time - pressed)


def _pixel(env: Any) -> tuple[int, ...]:
    observation = env.step([[]])[0][0]
    return tuple(observation["vision"][8, 8].tolist())


def _wait_idle(env: Any, seconds: float) -> None:
    """Wait for `seconds`, or, if they are 0, until something arrives."""
    time.sleep(seconds) if seconds else env.wait(0.1)


def _wait_busy(env: Any, seconds: float) -> None:
    """Compute in plain Python for `seconds`, at least 1000 rounds."""
    deadline, number = time.monotonic() + seconds, 1
    while True:
        for _ in range(1000):
            number = (number * 1103515245 + 12345) % 2147483648
        if time.monotonic() >= deadline:
            return
