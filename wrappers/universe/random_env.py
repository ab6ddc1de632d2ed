"""Another environment for every episode."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any, ClassVar

from universe_client.errors import ConfigError
from universe_client.vector_env import VectorEnv
from wrappers.universe.wrapper import Wrapper


class RandomEnv(Wrapper):
    """Has each remote play one of several environments, drawn anew for every episode.

    The remotes must offer all of them, as desktop and browser remotes do. `info["n"][i]["env_status.env_id"]` says what
    is played. BlockingReset goes around this wrapper: the episode that a remote begins by itself is not the one drawn.

    Example:
        env = universe_client.make("desktop.CloseWindow-v0", remotes=4)
        env = RandomEnv(env, ["desktop.CloseWindow-v0", "desktop.MoveWindow-v0"], seed=1)
        observation_n = env.reset()
        observation_n, reward_n, done_n, info = env.step([[]] * 4)
    """

    instead: ClassVar[str] = "one environment per env_id"
    takes_lists: ClassVar[bool | None] = True

    def __init__(self, env: VectorEnv | Wrapper, env_ids: Sequence[str], seed: int | None = None) -> None:
        """Wrap `env`; `seed` is of the draws."""
        super().__init__(env)
        if not env_ids:
            raise ConfigError("env_ids=[] has no environment to choose")
        self._env_ids = list(env_ids)
        self._dice = random.Random(seed)

    def reset(self, **options: Any) -> list[Any]:
        """Reset, to whatever is drawn."""
        return self.env.reset(env_ids=self._draw(), **options)

    def recv(self, mask: Sequence[bool] | None = None) -> tuple[Any, Any, Any, Any]:
        """Receive; remotes that are done are reset."""
        observation_n, reward_n, done_n, info = self.env.recv(mask)
        if any(done_n):
            observation_n = [None if done else seen for done, seen in zip(done_n, observation_n, strict=True)]
            self.env.reset(mask=[bool(done) for done in done_n], env_ids=self._draw())
        return observation_n, reward_n, done_n, info

    def _draw(self) -> list[str]:
        return self._dice.choices(self._env_ids, k=self.n)
