"""Episodes whose player has to begin."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from gymnasium.vector import VectorEnv

from universe_client.gym.infos import NOOP, RESETTING, STICKY
from wrappers.gym.episodic_lives import TRAJ_DONE
from wrappers.gym.gym_wrapper import GymWrapper, RowNumbers, StepResult, chosen_rows


class FireStart(GymWrapper):
    """Takes `action` at the beginning of every episode, and of every life if it is around `EpisodicLives`.

    It is the agent's first step that is taken so; and the next ones, while a wrapper inside (`NoopStart`,
    `StickyActions`) says that another action was heard instead. `infos["fire"]` says whose action was replaced.

    Example:
        env = gymnasium.make_vec("universe/NeonDrive-v0", num_envs=4, step_rate=15)
        env = FireStart(env, action=5)  # space
        env.reset()
        observations, rewards, terminations, truncations, infos = env.step(env.action_space.sample())
        assert infos["fire"].all()
    """

    takes_same_step: ClassVar[bool] = False

    def __init__(self, env: VectorEnv[Any, Any, Any], action: Any = 1) -> None:
        """Wrap `env`; `action` is the one that begins."""
        super().__init__(env)
        self._action = action
        self._due = np.ones(self.num_envs, np.bool_)
        self._resetting = np.zeros(self.num_envs, np.bool_)  # whose next action nobody hears

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Reset; the rows that do are to begin."""
        observations, infos = self.env.reset(seed=seed, options=options)
        self._due[chosen_rows(options, self.num_envs)] = True
        self._resetting[:] = infos.get(RESETTING, False)
        return observations, infos

    def actions(self, rows: RowNumbers, actions: Any) -> Any:
        """Replace the actions of those that are to begin."""
        return self.replace(actions, self._due[rows], self._action)

    def results(self, rows: RowNumbers, result: StepResult) -> StepResult:
        """Remember who has begun."""
        observations, rewards, terminations, truncations, infos = result
        unheard = self._resetting[rows] | infos.get(NOOP, False) | infos.get(STICKY, False)
        infos["fire"], infos["_fire"] = self._due[rows] & ~unheard, np.ones(len(rows), np.bool_)
        dones = terminations | truncations
        self._due[rows] = (self._due[rows] & unheard) | dones
        self._resetting[rows] = infos.get(TRAJ_DONE, dones) | infos.get(RESETTING, False)
        return observations, rewards, terminations, truncations, infos
