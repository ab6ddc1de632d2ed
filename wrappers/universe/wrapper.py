"""The base of all wrappers over a vector of remotes."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import Any, ClassVar, Self

import gymnasium

from universe_client.errors import ConfigError
from universe_client.vector_env import VectorEnv


class Wrapper:
    """Passes everything on; a wrapper overrides what it changes.

    `step` is `send` then `recv`, here and in the environment: a wrapper that changes actions overrides `send`, one
    that changes what comes back overrides `recv`, and `step` follows. Attributes that a wrapper has not are the
    wrapped environment's.

    Example:
        class Negate(Wrapper):
            def recv(self, mask=None):
                observation_n, reward_n, done_n, info = self.env.recv(mask)
                return observation_n, [-reward for reward in reward_n], done_n, info
    """

    instead: ClassVar[str] = "a wrappers.GymWrapper"
    """What does the same on Gymnasium's faces."""
    takes_lists: ClassVar[bool | None] = None
    """Whether it needs lists, one entry per remote (True), or single values as `Unvectorize` gives them (False)."""

    def __init__(self, env: VectorEnv | Wrapper) -> None:
        """Wrap `env`.

        Raises:
            ConfigError: it is not Universe's face, or has no lists where this wrapper needs them, or the reverse.
        """
        self._check_face(env)
        self.env = env

    def _check_face(self, env: object) -> None:
        name = type(self).__name__
        if not isinstance(env, VectorEnv | Wrapper):
            is_gymnasiums = isinstance(env, gymnasium.Env | gymnasium.vector.VectorEnv)
            advice = f": on Gymnasium's faces use {self.instead}" if is_gymnasiums else ""
            raise ConfigError(
                f"{name} is for universe_client.VectorEnv, not for {type(env).__name__}{advice}"
            )
        if self.takes_lists not in (None, isinstance(env, VectorEnv) or env.gives_lists):
            needs = "lists: put it inside of" if self.takes_lists else "single values: put it around"
            raise ConfigError(f"{name} needs {needs} Unvectorize")

    @property
    def gives_lists(self) -> bool:
        """Whether observations, rewards and dones are lists, one entry per remote."""
        return isinstance(self.env, VectorEnv) or self.env.gives_lists

    @property
    def n(self) -> int:
        """How many remotes there are."""
        return self.env.n

    @property
    def unwrapped(self) -> VectorEnv:
        """The environment under all wrappers."""
        return self.env.unwrapped

    def reset(self, **options: Any) -> Any:
        """See `VectorEnv.reset`."""
        return self.env.reset(**options)

    def step(self, action_n: Sequence[Any]) -> tuple[Any, Any, Any, Any]:
        """See `VectorEnv.step`."""
        self.send(action_n)
        return self.recv()

    def send(self, action_n: Sequence[Any]) -> None:
        """See `VectorEnv.send`."""
        self.env.send(action_n)

    def recv(self, mask: Sequence[bool] | None = None) -> tuple[Any, Any, Any, Any]:
        """See `VectorEnv.recv`."""
        return self.env.recv(mask)

    def close(self) -> None:
        """See `VectorEnv.close`."""
        self.env.close()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name == "env":
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self.env, name)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.env!r}>"
