"""Actions that are repeated at random, so that an agent cannot memorize a sequence of actions."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from gymnasium.vector import VectorEnv
from gymnasium.vector.utils import iterate

from universe_client.errors import ConfigError
from universe_client.gym.batch.infos import RESETTING, STICKY, put
from wrappers.gym.wrapper import GymWrapper, RowNumbers, StepResult, chosen_rows


class StickyActions(GymWrapper):
    """Repeats the previous action instead of the new one, with a fixed probability (Machado et al. 2018).

    The draw is independent for each remote and step. The previous action is the one that was carried out, which may
    itself be a repetition. The first action of an episode is never replaced. `infos["sticky"]`, bool (n,), is true for
    the rows whose action was replaced. Machado et al. decide at every frame: put the wrapper inside `FrameSkip`.

    Example:
        env = StickyActions(gymnasium.make_vec("universe/NeonDrive-v0", num_envs=4), probability=0.25)
        env.reset(seed=1)
        observations, rewards, terminations, truncations, infos = env.step(env.action_space.sample())
        replaced = infos["sticky"]
    """

    takes_same_step: ClassVar[bool] = False
    passes_observations = True

    def __init__(self, env: VectorEnv[Any, Any, Any], probability: float = 0.25) -> None:
        """Wrap `env`.

        Args:
            env: a vector environment whose autoreset mode is not `SAME_STEP`.
            probability: of a repetition, 0..1.

        Raises:
            ConfigError: `probability` is not within 0..1.
        """
        if not 0 <= probability <= 1:
            raise ConfigError(f"probability={probability!r} is not within 0..1")
        super().__init__(env)
        self._probability = probability
        self._random = np.random.default_rng()
        self._last: list[Any] = [None] * self.num_envs  # None before the first action of an episode
        self._replaced = np.zeros(self.num_envs, np.bool_)  # in the current step
        self._resetting = np.zeros(self.num_envs, np.bool_)  # the row's next action is ignored

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Reset the environment and forget the last action of each row that resets; see `GymVectorEnv.reset`.

        Args:
            seed: passed on; if not None it also seeds the random numbers of this wrapper.
            options: passed on.
        """
        observations, infos = self.env.reset(seed=seed, options=options)
        if seed is not None:
            self._random = np.random.default_rng(seed)
        self._forget(chosen_rows(options, self.num_envs))
        self._resetting[:] = infos.get(RESETTING, False)
        return observations, infos

    def actions(self, rows: RowNumbers, actions: Any) -> Any:
        """Replace some of the actions with the previous ones."""
        sticks = self._random.random(len(rows)) < self._probability
        for row, stick, action in zip(rows, sticks, iterate(self.action_space, actions), strict=True):
            self._replaced[row] = stick and self._last[row] is not None
            if not self._replaced[row]:
                self._last[row] = action
        return self.join([self._last[row] for row in rows])

    def results(self, rows: RowNumbers, result: StepResult) -> StepResult:
        """Add `infos["sticky"]`, and forget the last actions of episodes that ended."""
        observations, rewards, terminations, truncations, infos = result
        put(infos, STICKY, self._replaced[rows])
        dones = terminations | truncations
        self._forget(rows[dones | self._resetting[rows]])
        self._resetting[rows] = dones | infos.get(RESETTING, False)
        return observations, rewards, terminations, truncations, infos

    def _forget(self, rows: RowNumbers) -> None:
        for row in rows:
            self._last[row] = None
