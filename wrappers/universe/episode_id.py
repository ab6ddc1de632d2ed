"""Numbers for episodes, and an end after so many of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from universe_client.errors import ConfigError
from universe_client.vector_env import VectorEnv
from wrappers.universe.wrapper import Wrapper


class EpisodeID(Wrapper):
    """Numbers the episodes of all remotes: those of remote i are i, i + n, i + 2n, ...

    `info["n"][i]["vectorized.episode_id"]` is the number of the episode that the step's results are of;
    `info["vectorized.done_to"]` the highest number up to which all episodes are done, -1 before there is one. With a
    `limit` exactly the episodes below it are played, whichever are the fast ones: a remote that has none left is None
    from then on, gives no rewards and hears no actions. So short episodes weigh no more than long ones in a mean.

    Numbers begin anew with each `reset`; a reset by mask repeats the episode that it interrupts. BlockingReset would
    wait for a remote that has no episode left: it goes inside.

    Example:
        env = EpisodeID(universe_client.make("builtin.NeonDrive-v0", remotes=4), limit=100)
        env.reset()
        while not env.finished:
            observation_n, reward_n, done_n, info = env.step([[]] * 4)
    """

    instead: ClassVar[str] = "wrappers.EpisodeStatistics"
    takes_lists: ClassVar[bool | None] = True

    def __init__(self, env: VectorEnv | Wrapper, limit: int | None = None) -> None:
        """Wrap `env`; `limit` is the number of episodes to play."""
        super().__init__(env)
        if limit is not None and limit < 1:
            raise ConfigError(f"limit={limit} is not a positive number of episodes")
        self.limit = limit
        self._begin()

    def _begin(self) -> None:
        self._episodes = list(range(self.n))

    @property
    def finished(self) -> bool:
        """Whether all episodes below the limit are done."""
        return all(self._is_over(index) for index in range(self.n))

    def _is_over(self, index: int) -> bool:
        return self.limit is not None and self._episodes[index] >= self.limit

    def reset(self, **options: Any) -> list[Any]:
        """Reset."""
        if options.get("mask") is None:
            self._begin()
        observation_n = self.env.reset(**options)
        return [None if self._is_over(index) else seen for index, seen in enumerate(observation_n)]

    def send(self, action_n: Sequence[Any]) -> None:
        """Send the actions of the remotes that have an episode."""
        self.env.send([[] if self._is_over(index) else action for index, action in enumerate(action_n)])

    def recv(self, mask: Sequence[bool] | None = None) -> tuple[Any, Any, Any, Any]:
        """Receive, and number what came."""
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
