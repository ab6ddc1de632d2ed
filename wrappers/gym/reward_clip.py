"""Rewards limited to a range."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.vector import VectorEnv

from universe_client.errors import ConfigError
from universe_client.gym.batch.infos import put
from wrappers.gym.wrapper import GymWrapper, RowNumbers, StepResult


class RewardClip(GymWrapper):
    """Clips the reward of every step, by default to -1..1 (Mnih et al. 2015).

    `infos["raw_reward"]`, float64 (n,), is the reward before clipping.

    Example:
        env = RewardClip(gymnasium.make_vec("universe/NeonDrive-v0", num_envs=4))
        env.reset()
        observations, rewards, terminations, truncations, infos = env.step(env.action_space.sample())
        assert abs(rewards).max() <= 1
        score = infos["raw_reward"]
    """

    passes_observations = True

    def __init__(self, env: VectorEnv[Any, Any, Any], low: float = -1.0, high: float = 1.0) -> None:
        """Wrap `env`.

        Args:
            env: a vector environment.
            low: the smallest reward to return.
            high: the largest reward to return.

        Raises:
            ConfigError: `low` is greater than `high`.
        """
        if not low <= high:
            raise ConfigError(f"low={low!r} is greater than high={high!r}")
        super().__init__(env)
        self._low, self._high = low, high

    def results(self, rows: RowNumbers, result: StepResult) -> StepResult:
        """Clip the rewards of a batch."""
        observations, rewards, terminations, truncations, infos = result
        put(infos, "raw_reward", rewards)
        return observations, np.clip(rewards, self._low, self._high), terminations, truncations, infos
