"""Episodes of bounded length."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, ClassVar

from universe_client.errors import ConfigError
from universe_client.vector_env import VectorEnv
from wrappers.universe.wrapper import Wrapper


class TimeLimit(Wrapper):
    """Truncates an episode that lasts too long, each remote by its own clock.

    The clock starts with an episode's first observation and stops at its end. When it runs out, the next step is
    `done` with `truncated` and the end reason `time_limit`, and the remote resets.

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
        """Wrap `env`; an episode may last `seconds` of real time and `steps` steps, None for any."""
        super().__init__(env)
        if seconds is None and steps is None:
            raise ConfigError("TimeLimit needs seconds or steps")
        if (seconds is not None and seconds <= 0) or (steps is not None and steps <= 0):
            raise ConfigError(f"TimeLimit of seconds={seconds!r}, steps={steps!r}: not positive")
        self.seconds, self.steps = seconds, steps
        self._began: list[float | None] = [None] * env.n
        self._steps = [0] * env.n

    def reset(self, **options: Any) -> list[Any]:
        """Reset, and forget the clocks of the remotes that do."""
        observation_n = self.env.reset(**options)
        mask = options.get("mask")
        for index, observation in enumerate(observation_n):
            if mask is None or mask[index]:
                self._began[index] = None
                self._count(index, observation is not None, False)
        return observation_n

    def recv(self, mask: Sequence[bool] | None = None) -> tuple[Any, Any, Any, Any]:
        """Receive, having cut what is over time."""
        chosen = [True] * self.n if mask is None else mask
        for index in range(self.n):
            if chosen[index] and self._is_over(index):
                self._began[index] = None
                self.unwrapped.truncate(index, "time_limit")
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
