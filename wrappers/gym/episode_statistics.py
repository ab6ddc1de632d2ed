"""Returns, lengths and durations of episodes."""

from __future__ import annotations

import time
from collections import deque
from typing import Any, ClassVar

import numpy as np
from gymnasium.vector import VectorEnv
from numpy.typing import NDArray

from universe_client.gym.batch.infos import RESETTING
from wrappers.gym.wrapper import GymWrapper, RowNumbers, StepResult, chosen_rows


class EpisodeStatistics(GymWrapper):
    """Reports the return, length and duration of each episode on the step that ends it.

    The report has the place and form of that of Gymnasium's `RecordEpisodeStatistics`: `infos["episode"]` is a dict of
    arrays `r` (sum of rewards, float64), `l` (steps, int64) and `t` (seconds, float64), each of shape (n,).
    `infos["_episode"]`, bool (n,), is true for the rows whose episode ended. Gymnasium's wrapper assumes that a reset
    takes one step. This one counts no step on which a row is resetting, however many there are (`reset_mode="mask"`),
    and it supports `send` and `recv` of some rows and resets by mask.

    Attributes:
        episode_count: how many episodes have ended.
        return_queue: returns of the last `buffer_length` episodes, a deque of float.
        length_queue: their lengths in steps, a deque of int.
        time_queue: their durations in seconds, a deque of float.

    Example:
        env = EpisodeStatistics(gymnasium.make_vec("universe/NeonDrive-v0", num_envs=4, reset_mode="mask"))
        env.reset()
        while env.episode_count < 10:
            observations, rewards, terminations, truncations, infos = env.step(env.action_space.sample())
        print(np.mean(env.return_queue))
    """

    takes_same_step: ClassVar[bool] = False
    passes_observations = True

    def __init__(self, env: VectorEnv[Any, Any, Any], buffer_length: int = 100) -> None:
        """Wrap `env`.

        Args:
            env: a vector environment whose autoreset mode is not `SAME_STEP`.
            buffer_length: how many episodes the queues keep.
        """
        super().__init__(env)
        self.episode_count = 0
        self.return_queue: deque[float] = deque(maxlen=buffer_length)
        self.length_queue: deque[int] = deque(maxlen=buffer_length)
        self.time_queue: deque[float] = deque(maxlen=buffer_length)
        self._returns = np.zeros(self.num_envs, np.float64)
        self._lengths = np.zeros(self.num_envs, np.int64)
        self._began = np.zeros(self.num_envs, np.float64)
        self._awaits = np.ones(self.num_envs, np.bool_)  # the row's episode has no first frame yet

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Reset the environment and the counts of the rows that reset; see `GymVectorEnv.reset`."""
        observations, infos = self.env.reset(seed=seed, options=options)
        rows = chosen_rows(options, self.num_envs)
        self._awaits[rows] = True
        self._begin(rows[~_resetting(infos, self.num_envs)[rows]])
        return observations, infos

    def _begin(self, rows: RowNumbers) -> None:
        self._awaits[rows] = False
        self._returns[rows], self._lengths[rows], self._began[rows] = 0.0, 0, time.perf_counter()

    def results(self, rows: RowNumbers, result: StepResult) -> StepResult:
        """Add a batch to the counts and report the episodes that it ends."""
        _, rewards, terminations, truncations, infos = result
        counted = ~self._awaits[rows]
        self._returns[rows[counted]] += rewards[counted]
        self._lengths[rows[counted]] += 1
        dones = terminations | truncations
        if dones.any():
            self._report(rows, dones, infos)
        self._awaits[rows[dones]] = True
        self._begin(rows[~counted & ~_resetting(infos, len(rows))])
        return result

    def _report(self, rows: RowNumbers, dones: NDArray[np.bool_], infos: dict[str, Any]) -> None:
        seconds = np.round(time.perf_counter() - self._began[rows], 6)
        columns = {"r": self._returns[rows], "l": self._lengths[rows], "t": seconds}
        infos["episode"] = {name: np.where(dones, column, 0) for name, column in columns.items()}
        infos["_episode"] = dones
        self.episode_count += int(dones.sum())
        self.return_queue.extend(columns["r"][dones].tolist())
        self.length_queue.extend(columns["l"][dones].tolist())
        self.time_queue.extend(seconds[dones].tolist())


def _resetting(infos: dict[str, Any], n: int) -> NDArray[np.bool_]:
    resetting: NDArray[np.bool_] = infos.get(RESETTING, np.zeros(n, np.bool_))
    return resetting
