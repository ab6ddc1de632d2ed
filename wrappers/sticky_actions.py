"""Actions that are sometimes not heard, so that no agent can learn a sequence by heart."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.vector import VectorEnv, VectorWrapper
from gymnasium.vector.utils import concatenate, create_empty_array, iterate
from numpy.typing import NDArray

from universe_client.errors import ConfigError


class StickyActions(VectorWrapper[Any, Any, Any, Any, Any]):
    """Repeats, with some probability and for each remote by itself, the action before instead of the new one.

    The first action of an episode is always heard. `infos["sticky"]` says whose action was replaced.

    Example:
        env = StickyActions(gymnasium.make_vec("universe/NeonDrive-v0", num_envs=4), probability=0.25)
        env.reset(seed=1)
        observations, rewards, terminations, truncations, infos = env.step(env.action_space.sample())
        replaced = infos["sticky"]
    """

    def __init__(self, env: VectorEnv[Any, Any, Any], probability: float = 0.25) -> None:
        """Wrap `env`; the dice are seeded by `reset(seed=)`."""
        if not 0 <= probability <= 1:
            raise ConfigError(f"probability={probability!r} is not within 0..1")
        super().__init__(env)
        self._probability = probability
        self._dice = np.random.default_rng()
        self._actions: Any = create_empty_array(self.single_action_space, self.num_envs)
        self._last: list[Any] = [None] * self.num_envs  # None before the first action of an episode
        self._resetting = np.zeros(self.num_envs, np.bool_)  # whose next action nobody hears

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Reset; the rows that do forget their last action."""
        result = self.env.reset(seed=seed, options=options)
        if seed is not None:
            self._dice = np.random.default_rng(seed)
        mask = (options or {}).get("reset_mask")
        self._forget(np.ones(self.num_envs, np.bool_) if mask is None else mask)
        self._resetting = self._are_resetting(result[1])
        return result

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Step with some of the actions replaced."""
        replaced = self._dice.random(self.num_envs) < self._probability
        for row, action in enumerate(iterate(self.action_space, actions)):
            if self._last[row] is None or not replaced[row]:
                self._last[row], replaced[row] = action, False
        result = self.env.step(concatenate(self.single_action_space, self._last, self._actions))
        observations, rewards, terminations, truncations, infos = result
        infos["sticky"], infos["_sticky"] = replaced, np.ones(self.num_envs, np.bool_)
        dones = terminations | truncations
        self._forget(dones | self._resetting)
        self._resetting = dones | self._are_resetting(infos)
        return observations, rewards, terminations, truncations, infos

    def _are_resetting(self, infos: dict[str, Any]) -> NDArray[np.bool_]:
        resetting: NDArray[np.bool_] = infos.get("resetting", np.zeros(self.num_envs, np.bool_)).copy()
        return resetting

    def _forget(self, rows: NDArray[np.bool_]) -> None:
        for row in np.flatnonzero(rows):
            self._last[row] = None
