"""A random environment for each episode."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any, ClassVar

from universe_client.errors import ConfigError
from universe_client.vector_env import VectorEnv
from wrappers.universe.wrapper import Wrapper


class RandomEnv(Wrapper):
    """Draws one of several environments for each episode of each remote.

    The remotes must offer all of them, as desktop and browser remotes do. `info["n"][i]["env_status.env_id"]` is the
    current one. Put `BlockingReset` around this wrapper: at the end of an episode a remote starts the next episode of
    the same environment, and this wrapper resets it to the one drawn.

    Example:
        env = universe_client.make("desktop.CloseWindow-v0", remotes=4)
        env = RandomEnv(env, ["desktop.CloseWindow-v0", "desktop.MoveWindow-v0"], seed=1)
        observation_n = env.reset()
        observation_n, reward_n, done_n, info = env.step([[]] * 4)
    """

    instead: ClassVar[str] = "one environment per env_id"
    takes_lists: ClassVar[bool | None] = True

    def __init__(self, env: VectorEnv | Wrapper, env_ids: Sequence[str], seed: int | None = None) -> None:
        """Wrap `env`.

        Args:
            env: a `VectorEnv`, with or without wrappers.
            env_ids: the ids of the environments to draw from, with equal probability.
            seed: of the draws; None for a random one.

        Raises:
            ConfigError: `env_ids` is empty.
        """
        super().__init__(env)
        if not env_ids:
            raise ConfigError("env_ids=[] must contain at least one id")
        self._env_ids = list(env_ids)
        self._random = random.Random(seed)

    def reset(self, **options: Any) -> list[Any]:
        """Draw an environment for each remote and reset; see `VectorEnv.reset`."""
        return self.env.reset(env_ids=self._draw(), **options)

    def recv(self, mask: Sequence[bool] | None = None) -> tuple[Any, Any, Any, Any]:
        """Return the results, and reset the remotes that are done to newly drawn environments."""
        observation_n, reward_n, done_n, info = self.env.recv(mask)
        if any(done_n):
            observation_n = [None if done else seen for done, seen in zip(done_n, observation_n, strict=True)]
            self.env.reset(mask=[bool(done) for done in done_n], env_ids=self._draw())
        return observation_n, reward_n, done_n, info

    def _draw(self) -> list[str]:
        return self._random.choices(self._env_ids, k=self.n)
