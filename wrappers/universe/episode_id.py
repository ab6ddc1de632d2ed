"""Numbers for episodes, and an optional limit on how many are played."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from universe_client.errors import ConfigError
from universe_client.vector_env import VectorEnv
from wrappers.universe.wrapper import Wrapper, times


class EpisodeID(Wrapper):
    """Numbers the episodes of all remotes: remote i plays i, i + n, i + 2n, ...

    `info["n"][i]["vectorized.episode_id"]` is the number of the episode that the step's results belong to.
    `info["vectorized.done_to"]` is the highest number up to which all episodes are done, or -1.

    With a `limit` the remotes play exactly the episodes with numbers below it. A remote that has none left returns
    observation None and reward 0, and receives no actions. Without this rule the mean over the first episodes to finish
    would favour short episodes.

    Numbers start again with each `reset`; a reset by mask repeats the number of the interrupted episode. Put
    `BlockingReset` inside this wrapper: outside it would wait for remotes that have no episode left.

    Attributes:
        limit: the number of episodes to play, or None.

    Example:
        env = EpisodeID(universe_client.make("builtin.NeonDrive-v0", remotes=4), limit=100)
        env.reset()
        while not env.finished:
            observation_n, reward_n, done_n, info = env.step([[]] * 4)
    """

    instead: ClassVar[str] = "wrappers.EpisodeStatistics"
    takes_lists: ClassVar[bool | None] = True

    def __init__(self, env: VectorEnv | Wrapper, limit: int | None = None) -> None:
        """Wrap `env`.

        Args:
            env: a `VectorEnv`, with or without wrappers.
            limit: how many episodes to play; None for any number.

        Raises:
            ConfigError: `limit` is not positive.
        """
        super().__init__(env)
        if limit is not None and limit < 1:
            raise ConfigError(f"limit={limit} is not a positive number of episodes")
        self.limit = limit
        self._begin()

    def _begin(self) -> None:
        self._episodes = list(range(self.n))

    @property
    def finished(self) -> bool:
        """Whether all episodes below `limit` are done."""
        return all(self._is_over(index) for index in range(self.n))

    def _is_over(self, index: int) -> bool:
        return self.limit is not None and self._episodes[index] >= self.limit

    def reset(self, **options: Any) -> list[Any]:
        """Reset the remotes and the numbers; see `VectorEnv.reset`."""
        if options.get("mask") is None:
            self._begin()
        observation_n = self.env.reset(**options)
        return [None if self._is_over(index) else seen for index, seen in enumerate(observation_n)]

    def send(self, action_n: Sequence[Any], at: float | Sequence[float | None] | None = None) -> None:
        """Send the actions to the remotes that have an episode left; see `VectorEnv.send`."""
        left = [[] if self._is_over(index) else action for index, action in enumerate(action_n)]
        self.env.send(left, **times(at))

    def play(self, sequence_n: Sequence[Any]) -> None:
        """Plan actions for the remotes that have an episode left; see `VectorEnv.play`."""
        self.env.play([None if self._is_over(index) else its for index, its in enumerate(sequence_n)])

    def recv(self, mask: Sequence[bool] | None = None) -> tuple[Any, Any, Any, Any]:
        """Return the results with the numbers of their episodes; see the class and `VectorEnv.recv`."""
        observation_n, reward_n, done_n, info = self.env.recv(mask)
        observation_n, reward_n, done_n = list(observation_n), list(reward_n), list(done_n)
        for index, slot in enumerate(info["n"]):
            slot["vectorized.episode_id"] = None if self._is_over(index) else self._episodes[index]
            if self._is_over(index):
                observation_n[index], reward_n[index], done_n[index] = None, 0.0, False
            elif done_n[index]:
                self._episodes[index] += self.n
                if self._is_over(index):
                    observation_n[index] = None
        info["vectorized.done_to"] = min(self._episodes) - 1
        return observation_n, reward_n, done_n, info
