"""Actions that are sometimes not heard, so that no agent can learn a sequence by heart."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from gymnasium.vector import VectorEnv
from gymnasium.vector.utils import iterate

from universe_client.errors import ConfigError
from universe_client.gym.infos import RESETTING, STICKY
from wrappers.gym.gym_wrapper import GymWrapper, RowNumbers, StepResult, chosen_rows


class StickyActions(GymWrapper):
    """Repeats, with some probability and for each remote by itself, the action before instead of the new one.

    The first action of an episode is always heard. `infos["sticky"]` says whose action was replaced.

    Example:
        env = StickyActions(gymnasium.make_vec("universe/NeonDrive-v0", num_envs=4), probability=0.25)
        env.reset(seed=1)
        observations, rewards, terminations, truncations, infos = env.step(env.action_space.sample())
        replaced = infos["sticky"]
    """

    takes_same_step: ClassVar[bool] = False

    def __init__(self, env: VectorEnv[Any, Any, Any], probability: float = 0.25) -> None:
        """Wrap `env`; the dice are seeded by `reset(seed=)`."""
        if not 0 <= probability <= 1:
            raise ConfigError(f"probability={probability!r} is not within 0..1")
        super().__init__(env)
        self._probability = probability
        self._dice = np.random.default_rng()
        self._last: list[Any] = [None] * self.num_envs  # None before the first action of an episode
        self._replaced = np.zeros(self.num_envs, np.bool_)  # of the step that is under way
        self._resetting = np.zeros(self.num_envs, np.bool_)  # whose next action nobody hears

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Reset; the rows that do forget their last action."""
        observations, infos = self.env.reset(seed=seed, options=options)
        if seed is not None:
            self._dice = np.random.default_rng(seed)
        self._forget(chosen_rows(options, self.num_envs))
        self._resetting[:] = infos.get(RESETTING, False)
        return observations, infos

    def actions(self, rows: RowNumbers, actions: Any) -> Any:
        """Replace some of the actions."""
        sticks = self._dice.random(len(rows)) < self._probability
        for row, stick, action in zip(rows, sticks, iterate(self.action_space, actions), strict=True):
            self._replaced[row] = stick and self._last[row] is not None
            if not self._replaced[row]:
                self._last[row] = action
        return self.join([self._last[row] for row in rows])

    def results(self, rows: RowNumbers, result: StepResult) -> StepResult:
        """Say whose action was replaced, and forget those of ended episodes."""
        observations, rewards, terminations, truncations, infos = result
        infos[STICKY], infos[f"_{STICKY}"] = self._replaced[rows], np.ones(len(rows), np.bool_)
        dones = terminations | truncations
        self._forget(rows[dones | self._resetting[rows]])
        self._resetting[rows] = dones | infos.get(RESETTING, False)
        return observations, rewards, terminations, truncations, infos

    def _forget(self, rows: RowNumbers) -> None:
        for row in rows:
            self._last[row] = None
