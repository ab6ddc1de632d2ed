"""Environments of this package, in lock-step and in real time."""

from __future__ import annotations

from typing import Any, Literal

from benchmarks.machine.workers.names import attribute
from benchmarks.machine.workers.playing import Figures, as_fast_as_possible, in_real_time
from universe_client import GymVectorEnv

FPS, LOOKS = 60, 15
PONGS, SKIP = 8, 4
_PONG = "gym-core.ALE/Pong-v5"
_ATARI = ("wrappers.gym.atari", "wrappers.atari")


def cartpole(count: str) -> Figures:
    env = GymVectorEnv("gym-core.CartPole-v1", int(count), mode="lockstep", actions=["Left", "Right"])
    return as_fast_as_possible(env, int(count))


def pong_lockstep() -> Figures:
    return as_fast_as_possible(_atari(_pong("lockstep", None)), PONGS, SKIP)


def pong_realtime() -> Figures:
    env = _pong("realtime", FPS)
    return in_real_time(_atari(env), env.core)


def neon_realtime(count: str) -> Figures:
    env = GymVectorEnv("builtin.NeonDrive-v0", int(count), step_rate=FPS)
    return in_real_time(env, env.core)


def pong_looks(updates: str = "") -> Figures:
    env = _pong("realtime", LOOKS, updates)
    return in_real_time(env, env.core)


def neon_looks(count: str, updates: str = "") -> Figures:
    env = GymVectorEnv("builtin.NeonDrive-v0", int(count), step_rate=LOOKS, **_updates(updates))
    return in_real_time(env, env.core)


def _updates(updates: str) -> dict[str, Any]:
    """Earlier commits do not have the option."""
    return {"updates": updates} if updates else {}


def _pong(mode: Literal["realtime", "lockstep"], rate: float | None, updates: str = "") -> GymVectorEnv:
    actions = attribute("joystick", *_ATARI)(["NOOP", "RIGHT", "LEFT"])
    return GymVectorEnv(_PONG, PONGS, actions=actions, step_rate=rate, mode=mode, **_updates(updates))


def _atari(env: GymVectorEnv) -> Any:
    return attribute("atari", *_ATARI)(env, frame_skip=SKIP)
