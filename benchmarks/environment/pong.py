"""Pong of the Arcade Learning Environment on 8 embedded remotes, with the Atari wrappers and random actions.

A tick of a remote is a frame of the console. "Ticks/s" is the rate of the slowest remote. "Updates/s" are the frames
per remote that arrived at the agent's process; a frame equal to the previous one is not sent. In real time the agent
decides 15 times per second, for 4 frames; in lock-step as often as possible. "Agent" is the agent's process with all
its threads and the wrappers; "remotes" are the 8 processes with console, rewarder and VNC server. Both are in percent
of one core. The last row is Gymnasium's own preprocessing in its own processes, without a screen in between.
"""

from __future__ import annotations

import json
import os
import statistics
import time
import urllib.request
from collections.abc import Callable
from contextlib import closing
from functools import partial
from typing import Any, Literal

import ale_py
import gymnasium
import numpy as np
from rich.console import Console

from benchmarks.harness import cpu_seconds, process_tree
from benchmarks.report import Report, Table
from universe_client import GymVectorEnv
from vnc.drivers import choose
from wrappers.gym.atari import CONSOLE_FPS, atari, joystick

REMOTES, SKIP = 8, 4
SECONDS = 6.0
GAME, ACTIONS = "ALE/Pong-v5", ["NOOP", "RIGHT", "LEFT"]
_COLUMNS = [
    "pace, driver",
    "ticks/s each",
    "updates/s each",
    "decisions/s",
    "frames/s in all",
    "agent",
    "remotes",
]


def measure(console: Console, rounds: int) -> Report:
    gymnasium.register_envs(ale_py)
    table = Table(f"{REMOTES} Pongs", list(_COLUMNS))
    drivers = dict.fromkeys((choose("auto").name, "portable"))
    ways: dict[str, Callable[[], Any]] = {
        **{f"real time, {driver}": partial(_ours, driver, "realtime") for driver in drivers},
        **{f"lock-step, {driver}": partial(_ours, driver, "lockstep") for driver in drivers},
        "Gymnasium's AsyncVectorEnv": _gymnasium,
    }
    with console.status("measuring") as status:
        for name, open_env in ways.items():
            status.update(f"measuring {name}")
            table.rows.append([name, *_row([_played(open_env) for _ in range(rounds)])])
    return Report([table])


def _ours(driver: str, mode: Literal["realtime", "lockstep"]) -> Any:
    rate = CONSOLE_FPS if mode == "realtime" else None
    env = GymVectorEnv(
        f"gym-core.{GAME}", REMOTES, actions=joystick(ACTIONS), step_rate=rate, driver=driver, mode=mode
    )
    return atari(env, frame_skip=SKIP)


def _gymnasium() -> Any:
    preprocess = [
        lambda env: gymnasium.wrappers.AtariPreprocessing(env, frame_skip=SKIP),
        lambda env: gymnasium.wrappers.FrameStackObservation(env, 4),
    ]
    return gymnasium.make_vec(GAME, REMOTES, "async", wrappers=preprocess, frameskip=1)


def _played(open_env: Callable[[], Any]) -> dict[str, float]:
    """Play for SECONDS; return the mean rates per second."""
    with closing(open_env()) as env:
        env.reset(seed=1)
        env.step(env.action_space.sample())
        children = [process for process in process_tree() if process != os.getpid()]
        steps, updates = 0, np.zeros(REMOTES)
        began, agent, remotes = time.perf_counter(), time.process_time(), sum(map(cpu_seconds, children))
        while time.perf_counter() < began + SECONDS:
            *_, infos = env.step(env.action_space.sample())
            steps += 1
            updates += infos.get("stats.vnc.updates.n", 0)
        seconds = time.perf_counter() - began
        return {
            "ticks": _ticks(env),
            "updates": float(updates.mean()) / seconds,
            "steps": steps / seconds,
            "agent": (time.process_time() - agent) / seconds,
            "remotes": (sum(map(cpu_seconds, children)) - remotes) / seconds,
        }


def _row(rounds: list[dict[str, float]]) -> list[str]:
    median = {key: statistics.median(counted[key] for counted in rounds) for key in rounds[0]}
    return [
        f"{median['ticks']:.1f}" if median["ticks"] else "-",
        f"{median['updates']:.1f}" if median["updates"] else "-",
        f"{median['steps']:.1f}",
        f"{median['steps'] * SKIP * REMOTES:.0f}",
        f"{100 * median['agent']:.0f} %",
        f"{100 * median['remotes']:.0f} %",
    ]


def _ticks(env: Any) -> float:
    """Return the ticks per second that the slowest remote reports."""
    if not isinstance(env.unwrapped, GymVectorEnv):
        return 0.0
    rates = []
    for remote in env.unwrapped.core.remotes:
        address = remote.link.address
        assert address is not None and address.rewarder is not None
        with urllib.request.urlopen(f"http://127.0.0.1:{address.rewarder.port}/healthz") as page:
            rates.append(json.load(page)["ticks_per_second"])
    return float(min(rates))
