"""Episodes that begin with a fixed action, such as the fire button."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from gymnasium.vector import VectorEnv

from universe_client.gym.batch.infos import NOOP, RESETTING, STICKY, put
from wrappers.gym.episodic_lives import TRAJ_DONE
from wrappers.gym.wrapper import GymWrapper, RowNumbers, StepResult, chosen_rows


class FireStart(GymWrapper):
    """Replaces the agent's first action of every episode with a fixed one, for games that wait for the fire button.

    Around `EpisodicLives` this applies to every life. If a wrapper inside (`NoopStart`, `StickyActions`) replaces that
    action in turn, the next action of the agent is replaced too, until the fixed action is carried out.
    `infos["fire"]`, bool (n,), is true for the rows whose action was replaced. No step is added.

    Example:
        env = gymnasium.make_vec("universe/NeonDrive-v0", num_envs=4, step_rate=15)
        env = FireStart(env, action=5)  # space
        env.reset()
        observations, rewards, terminations, truncations, infos = env.step(env.action_space.sample())
        assert infos["fire"].all()
    """

    takes_same_step: ClassVar[bool] = False
    passes_observations = True

    def __init__(self, env: VectorEnv[Any, Any, Any], action: Any = 1) -> None:
        """Wrap `env`.

        Args:
            env: a vector environment whose autoreset mode is not `SAME_STEP`.
            action: the action of `single_action_space` that begins an episode.
        """
        super().__init__(env)
        self._action = action
        self._due = np.ones(self.num_envs, np.bool_)
        self._resetting = np.zeros(self.num_envs, np.bool_)  # the row's next action is ignored

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Reset the environment; the rows that reset begin with the fixed action. See `GymVectorEnv.reset`."""
        observations, infos = self.env.reset(seed=seed, options=options)
        self._due[chosen_rows(options, self.num_envs)] = True
        self._resetting[:] = infos.get(RESETTING, False)
        return observations, infos

    def actions(self, rows: RowNumbers, actions: Any) -> Any:
        """Replace the actions of the rows whose episode begins."""
        return self.replace(actions, self._due[rows], self._action)

    def results(self, rows: RowNumbers, result: StepResult) -> StepResult:
        """Add `infos["fire"]`, and record which rows have begun."""
        observations, rewards, terminations, truncations, infos = result
        ignored = self._resetting[rows] | infos.get(NOOP, False) | infos.get(STICKY, False)
        put(infos, "fire", self._due[rows] & ~ignored)
        dones = terminations | truncations
        self._due[rows] = (self._due[rows] & ignored) | dones
        self._resetting[rows] = infos.get(TRAJ_DONE, dones) | infos.get(RESETTING, False)
        return observations, rewards, terminations, truncations, infos
