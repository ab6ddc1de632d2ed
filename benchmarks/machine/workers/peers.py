"""The same games in local environments, without this package."""

from __future__ import annotations

from typing import Any

import gymnasium

from benchmarks.machine.workers.playing import Figures, as_fast_as_possible

_PONGS, _SKIP = 8, 4


def cartpole(count: str) -> Figures:
    """Gymnasium's AsyncVectorEnv: a process for each environment, whose pixels come in shared memory."""
    return as_fast_as_possible(gymnasium.vector.AsyncVectorEnv([_cartpole] * int(count)), int(count))


def _cartpole() -> gymnasium.Env[Any, Any]:
    env = gymnasium.make("CartPole-v1", render_mode="rgb_array")
    return gymnasium.wrappers.AddRenderObservation(env, render_only=True)


def pong() -> Figures:
    """AsyncVectorEnv with Gymnasium's preprocessing in its processes."""
    import ale_py

    gymnasium.register_envs(ale_py)
    preprocess = [
        lambda env: gymnasium.wrappers.AtariPreprocessing(env, frame_skip=_SKIP),
        lambda env: gymnasium.wrappers.FrameStackObservation(env, 4),
    ]
    env = gymnasium.make_vec("ALE/Pong-v5", _PONGS, "async", wrappers=preprocess, frameskip=1)
    return as_fast_as_possible(env, _PONGS, _SKIP)


def envpool_pong() -> Figures:
    """EnvPool, which runs and preprocesses the consoles in C++ threads of one process."""
    import envpool

    env = envpool.make("Pong-v5", env_type="gymnasium", num_envs=_PONGS, frame_skip=_SKIP, stack_num=4)
    return as_fast_as_possible(_EnvPool(env), _PONGS, _SKIP)


class _EnvPool:
    """EnvPool with the arguments of Gymnasium's vector environments."""

    def __init__(self, env: Any) -> None:
        self._env = env
        self.action_space = gymnasium.vector.utils.batch_space(gymnasium.spaces.Discrete(6), _PONGS)

    def reset(self, seed: int) -> None:
        self._env.reset()

    def step(self, actions: Any) -> None:
        self._env.step(actions)

    def close(self) -> None:
        self._env.close()
