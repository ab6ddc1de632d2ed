"""Episodes that begin differently each time."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from gymnasium.vector import VectorEnv

from universe_client.errors import ConfigError
from universe_client.gym.infos import NOOP, RESETTING
from wrappers.gym.gym_wrapper import GymWrapper, RowNumbers, StepResult, chosen_rows


class NoopStart(GymWrapper):
    """Does nothing instead of the agent's first actions of an episode: a random number of them, up to `most`.

    The steps are the agent's all the same: a remote in real time would not wait, and the others need not.
    `infos["noop"]` says whose action was not heard. Inside of `FrameSkip` it is frames that are counted.

    Example:
        env = NoopStart(gymnasium.make_vec("universe/NeonDrive-v0", num_envs=4, step_rate=60), most=30)
        env.reset(seed=1)
        observations, rewards, terminations, truncations, infos = env.step(env.action_space.sample())
        unheard = infos["noop"]
    """

    takes_same_step: ClassVar[bool] = False

    def __init__(self, env: VectorEnv[Any, Any, Any], most: int = 30, action: Any = 0) -> None:
        """Wrap `env`; `action` is the one that does nothing. The dice are seeded by `reset(seed=)`."""
        if most < 0:
            raise ConfigError(f"most={most} is negative")
        super().__init__(env)
        self._most, self._action = most, action
        self._dice = np.random.default_rng()
        self._left = np.zeros(self.num_envs, np.int64)
        self._resetting = np.zeros(self.num_envs, np.bool_)  # whose next action nobody hears

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Reset; throw the dice for the rows that do."""
        observations, infos = self.env.reset(seed=seed, options=options)
        if seed is not None:
            self._dice = np.random.default_rng(seed)
        self._throw(chosen_rows(options, self.num_envs))
        self._resetting[:] = infos.get(RESETTING, False)
        return observations, infos

    def actions(self, rows: RowNumbers, actions: Any) -> Any:
        """Replace the first actions of each episode."""
        return self.replace(actions, self._left[rows] > 0, self._action)

    def results(self, rows: RowNumbers, result: StepResult) -> StepResult:
        """Count, and say whose action was replaced."""
        observations, rewards, terminations, truncations, infos = result
        replaced = (self._left[rows] > 0) & ~self._resetting[rows]
        infos[NOOP], infos[f"_{NOOP}"] = replaced, np.ones(len(rows), np.bool_)
        self._left[rows] -= replaced
        dones = terminations | truncations
        self._throw(rows[dones])
        self._resetting[rows] = dones | infos.get(RESETTING, False)
        return observations, rewards, terminations, truncations, infos

    def _throw(self, rows: RowNumbers) -> None:
        self._left[rows] = self._dice.integers(self._most, endpoint=True, size=len(rows))
