"""Each life of a game as an episode."""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from gymnasium.vector import VectorEnv
from gymnasium.vector.utils import create_empty_array

from universe_client.errors import ConfigError
from universe_client.gym.batch import infos as gym_infos
from wrappers.gym.wrapper import GymWrapper, RowNumbers, StepResult, chosen_rows

TRAJ_DONE = "traj_done"
_UNKNOWN = -1


class EpisodicLives(GymWrapper):
    """Terminates an episode when a life is lost (Mnih et al. 2015), without a reset of the game.

    `infos["traj_done"]`, bool (n,), is true when the game itself is over. The number of lives is the info `lives` that
    the remote sends; without that info nothing changes.

    After a lost life the game continues. The next step takes the place of the reset step of `AutoresetMode.NEXT_STEP`:
    its reward is 0, and the reward that it earned is added to the step after it. A `reset` of some rows (`reset_mask`)
    without a seed does not restart a game that only lost a life: the row's next episode begins with the last
    observation.

    Example:
        env = gymnasium.make_vec("universe/Remote-v0", env_id="gym-core.ALE/Breakout-v5", num_envs=8, step_rate=60)
        env = EpisodicLives(FrameSkip(MaxFrames(env)))
        env.reset()
        observations, rewards, terminations, truncations, infos = env.step(env.action_space.sample())
        game_over = infos["traj_done"]
    """

    takes_same_step: ClassVar[bool] = False
    passes_observations = True

    def __init__(self, env: VectorEnv[Any, Any, Any], key: str = "remote.lives") -> None:
        """Wrap `env`.

        Args:
            env: a vector environment whose observations are one array and whose autoreset mode is not `SAME_STEP`.
            key: the info that contains the number of lives.

        Raises:
            ConfigError: the observations of `env` are not one array.
        """
        super().__init__(env)
        if env.single_observation_space.shape is None:
            raise ConfigError(
                f"EpisodicLives needs observations that are one array, not {env.single_observation_space}"
            )
        self._key = key
        self._lives = np.full(self.num_envs, _UNKNOWN, np.int64)
        self._lost = np.zeros(self.num_envs, np.bool_)  # the row lost a life in the step before
        self._rewards = np.zeros(self.num_envs)  # earned in the step that begins a life

    @cached_property
    def _seen(self) -> Any:
        """The observations at lost lives."""
        return create_empty_array(self.single_observation_space, self.num_envs)

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin a game, or a life where only a life was lost; see the class and `GymVectorEnv.reset`."""
        rows = chosen_rows(options, self.num_envs)
        only_lives = self._lost & (seed is None) & ("reset_mask" in (options or {}))
        games = np.setdiff1d(rows, np.flatnonzero(only_lives))
        lives = np.setdiff1d(rows, games)
        observations, infos = self._reset_games(
            seed, options if not lives.size else _only(games, self.num_envs)
        )
        if lives.size:
            observations = np.array(observations)
            observations[lives] = self._seen[lives]
            self._lost[lives] = False
        self._forget(games)
        self._count(np.arange(self.num_envs), infos)
        return observations, infos

    def _reset_games(self, seed: Any, options: dict[str, Any] | None) -> tuple[Any, dict[str, Any]]:
        if options is not None and "reset_mask" in options and not options["reset_mask"].any():
            return self._seen, gym_infos.batch([None] * self.num_envs)
        return self.env.reset(seed=seed, options=options)  # type: ignore[no-any-return]

    def results(self, rows: RowNumbers, result: StepResult) -> StepResult:
        """Terminate the rows that lost a life, and add `infos["traj_done"]`."""
        observations, rewards, terminations, truncations, infos = result
        over = terminations | truncations
        lost = self._count(rows, infos) & ~over & ~infos.get(gym_infos.RESETTING, over)
        rewards = rewards + self._rewards[rows]
        kept = self._lost[rows] & ~over & ~lost
        self._rewards[rows] = np.where(kept, rewards, 0.0)
        self._lost[rows] = lost
        self._forget(rows[over])
        if lost.any():
            self._see(rows, observations)
        gym_infos.put(infos, TRAJ_DONE, over)
        return observations, np.where(kept, 0.0, rewards), terminations | lost, truncations, infos

    def _count(self, rows: RowNumbers, infos: dict[str, Any]) -> Any:
        """Store the numbers of lives, and return which rows have fewer than before."""
        if self._key not in infos:
            return np.zeros(len(rows), np.bool_)
        known = infos[f"_{self._key}"]
        lives = np.where(known, infos[self._key], self._lives[rows]).astype(np.int64)
        fewer = lives < self._lives[rows]
        self._lives[rows] = lives
        return fewer

    def _see(self, rows: RowNumbers, observations: Any) -> None:
        if len(rows) == self.num_envs:
            self._seen = np.array(observations)
        else:
            self._seen[rows] = observations

    def _forget(self, rows: RowNumbers) -> None:
        self._lives[rows], self._lost[rows], self._rewards[rows] = _UNKNOWN, False, 0.0


def _only(rows: RowNumbers, n: int) -> dict[str, Any]:
    return {"reset_mask": np.isin(np.arange(n), rows)}
