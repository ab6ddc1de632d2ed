"""A limit on the length of episodes."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, ClassVar

from universe_client.errors import ConfigError
from universe_client.vector_env import VectorEnv
from wrappers.universe.wrapper import Wrapper


class TimeLimit(Wrapper):
    """Truncates episodes that exceed a limit, counted for each remote separately.

    The count starts with the first observation of an episode. When the limit is reached, the next step reports `done`,
    `info["n"][i]["truncated"]` is True, `info["n"][i]["end_reason"]` is `time_limit`, and the remote resets.

    Attributes:
        seconds: the limit in seconds, or None.
        steps: the limit in steps, or None.

    Example:
        env = TimeLimit(universe_client.make("builtin.NeonDrive-v0", remotes=4), seconds=30)
        observation_n = env.reset()
        observation_n, reward_n, done_n, info = env.step(action_n)
        cut = [slot["end_reason"] == "time_limit" for slot in info["n"]]
    """

    instead: ClassVar[str] = "max_episode_steps="
    takes_lists: ClassVar[bool | None] = True

    def __init__(
        self, env: VectorEnv | Wrapper, seconds: float | None = None, steps: int | None = None
    ) -> None:
        """Wrap `env`.

        Args:
            env: a `VectorEnv`, with or without wrappers.
            seconds: how long an episode may last in real time, in seconds; None for no limit.
            steps: how many steps an episode may have; None for no limit.

        Raises:
            ConfigError: both limits are None, or one is not positive.
        """
        super().__init__(env)
        if seconds is None and steps is None:
            raise ConfigError("TimeLimit needs seconds or steps")
        if (seconds is not None and seconds <= 0) or (steps is not None and steps <= 0):
            raise ConfigError(f"TimeLimit of seconds={seconds!r}, steps={steps!r}: not positive")
        self.seconds, self.steps = seconds, steps
        self._began: list[float | None] = [None] * env.n
        self._steps = [0] * env.n

    def reset(self, **options: Any) -> list[Any]:
        """Reset the remotes and their counts; see `VectorEnv.reset`."""
        observation_n = self.env.reset(**options)
        mask = options.get("mask")
        for index, observation in enumerate(observation_n):
            if mask is None or mask[index]:
                self._began[index] = None
                self._count(index, observation is not None, False)
        return observation_n

    def recv(self, mask: Sequence[bool] | None = None) -> tuple[Any, Any, Any, Any]:
        """Truncate the episodes that reached the limit and return the results; see `VectorEnv.recv`."""
        chosen = [True] * self.n if mask is None else mask
        for index in range(self.n):
            if chosen[index] and self._is_over(index):
                self._began[index] = None
                self.unwrapped.core.truncate(index, "time_limit")
        observation_n, reward_n, done_n, info = self.env.recv(mask)
        for index in range(self.n):
            if chosen[index]:
                self._count(index, observation_n[index] is not None, bool(done_n[index]))
        return observation_n, reward_n, done_n, info

    def _is_over(self, index: int) -> bool:
        began = self._began[index]
        if began is None:
            return False
        too_long = self.seconds is not None and time.monotonic() - began >= self.seconds
        return too_long or (self.steps is not None and self._steps[index] + 1 >= self.steps)

    def _count(self, index: int, observed: bool, done: bool) -> None:
        if done:
            self._began[index] = None
        if not observed:
            return
        if self._began[index] is None:
            self._began[index], self._steps[index] = time.monotonic(), 0
        else:
            self._steps[index] += 1
