"""Episodes that begin with a random number of steps without an action."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from gymnasium.vector import VectorEnv
from numpy.typing import NDArray

from universe_client.errors import ConfigError
from universe_client.gym.batch.infos import NOOP, RESETTING, put
from wrappers.gym.wrapper import GymWrapper, RowNumbers, StepResult, chosen_rows


class NoopStart(GymWrapper):
    """Replaces the agent's first actions of each episode with the no-op action (Mnih et al. 2015).

    Their number is drawn uniformly from 0..`most` for each episode of each remote, so episodes begin in different
    states. The wrapper adds no steps: it replaces the actions of the agent's own steps, because a remote in real time
    does not wait and the other remotes need not wait. `infos["noop"]`, bool (n,), is true for the rows whose action
    was replaced. Inside `FrameSkip` the number counts frames.

    Example:
        env = NoopStart(gymnasium.make_vec("universe/NeonDrive-v0", num_envs=4, step_rate=60), most=30)
        env.reset(seed=1)
        observations, rewards, terminations, truncations, infos = env.step(env.action_space.sample())
        replaced = infos["noop"]
    """

    takes_same_step: ClassVar[bool] = False
    passes_observations = True
    passes_ticks = True

    def __init__(self, env: VectorEnv[Any, Any, Any], most: int = 30, action: Any = 0) -> None:
        """Wrap `env`.

        Args:
            env: a vector environment whose autoreset mode is not `SAME_STEP`.
            most: the largest number of replaced actions per episode.
            action: the action of `single_action_space` that does nothing.

        Raises:
            ConfigError: `most` is negative.
        """
        if most < 0:
            raise ConfigError(f"most={most} must be at least 0")
        super().__init__(env)
        self._most, self._action = most, action
        self._random = np.random.default_rng().spawn(self.num_envs)
        self._left = np.zeros(self.num_envs, np.int64)
        self._ticks = np.ones(self.num_envs, np.int64)  # of the row's newest action
        self._resetting = np.zeros(self.num_envs, np.bool_)  # the row's next action is ignored

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Reset the environment and draw a number for each row that resets; see `GymVectorEnv.reset`.

        Args:
            seed: passed on; if not None it also seeds the random numbers of this wrapper.
            options: passed on.
        """
        observations, infos = self.env.reset(seed=seed, options=options)
        if seed is not None:
            self._random = np.random.default_rng(seed).spawn(self.num_envs)
        self._draw(chosen_rows(options, self.num_envs))
        self._resetting[:] = infos.get(RESETTING, False)
        return observations, infos

    def send_ticks(self, actions: Any, ids: RowNumbers, ticks: NDArray[np.int64]) -> NDArray[np.int64]:
        """Send the no-op action for its own number of ticks; see `GymWrapper.send_ticks`."""
        left = self._left[ids]
        sent = super().send_ticks(actions, ids, np.where(left > 0, np.minimum(left, ticks), ticks))
        self._ticks[ids] = sent
        return sent

    def actions(self, rows: RowNumbers, actions: Any) -> Any:
        """Replace the first actions of each episode."""
        self._ticks[rows] = 1
        return self.replace(actions, self._left[rows] > 0, self._action)

    def results(self, rows: RowNumbers, result: StepResult) -> StepResult:
        """Add `infos["noop"]`, and count the replaced actions."""
        observations, rewards, terminations, truncations, infos = result
        replaced = (self._left[rows] > 0) & ~self._resetting[rows]
        put(infos, NOOP, replaced)
        self._left[rows] -= replaced * self._ticks[rows]
        dones = terminations | truncations
        self._draw(rows[dones])
        self._resetting[rows] = dones | infos.get(RESETTING, False)
        return observations, rewards, terminations, truncations, infos

    def _draw(self, rows: RowNumbers) -> None:
        # Each row has its own generator: the numbers do not depend on which row's episode ends first.
        self._left[rows] = [self._random[row].integers(self._most, endpoint=True) for row in rows]
