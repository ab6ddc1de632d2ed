"""The base class of the wrappers around `universe_client.VectorEnv`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Self

import gymnasium

from universe_client.errors import ConfigError
from universe_client.spaces.actions import parse
from universe_client.vector_env import VectorEnv
from vnc.events import Event


class Wrapper:
    """The base class: passes every call to the wrapped environment.

    `step` calls `send` and then `recv`, here and in the environment. A subclass that changes actions overrides `send`
    (and `play`, if actions with times are to pass), one that changes results overrides `recv`; neither overrides
    `step`. Attributes that a wrapper does not define are those of the wrapped environment.

    Attributes:
        env: the wrapped environment.

    Example:
        class Negate(Wrapper):
            def recv(self, mask=None):
                observation_n, reward_n, done_n, info = self.env.recv(mask)
                return observation_n, [-reward for reward in reward_n], done_n, info
    """

    instead: ClassVar[str] = "a wrappers.GymWrapper"
    """What to use instead on Gymnasium's interfaces; error messages contain it."""
    takes_lists: ClassVar[bool | None] = None
    """Whether the wrapper needs lists with one entry per remote (True), single values as `Unvectorize` returns them
    (False), or accepts both (None)."""

    def __init__(self, env: VectorEnv | Wrapper) -> None:
        """Wrap `env`.

        Args:
            env: a `universe_client.VectorEnv`, with or without wrappers.

        Raises:
            ConfigError: `env` is something else, or it returns single values and this wrapper needs lists, or the
                reverse.
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
        """Whether observations, rewards and dones are lists with one entry per remote."""
        return isinstance(self.env, VectorEnv) or self.env.gives_lists

    @property
    def n(self) -> int:
        """The number of remotes."""
        return self.env.n

    @property
    def unwrapped(self) -> VectorEnv:
        """The environment inside all wrappers."""
        return self.env.unwrapped

    def reset(self, **options: Any) -> Any:
        """Reset the remotes; see `VectorEnv.reset`."""
        return self.env.reset(**options)

    def step(self, action_n: Sequence[Any]) -> tuple[Any, Any, Any, Any]:
        """Send one list of events to each remote and return the results; see `VectorEnv.step`."""
        self.send(action_n)
        return self.recv()

    def send(self, action_n: Sequence[Any], at: float | Sequence[float | None] | None = None) -> None:
        """Send one list of events to each remote, now or at a time; see `VectorEnv.send`."""
        self.env.send(action_n, **times(at))

    def play(self, sequence_n: Sequence[Any]) -> None:
        """Plan actions with times for each remote; see `VectorEnv.play`."""
        self.env.play(sequence_n)

    def recv(self, mask: Sequence[bool] | None = None) -> tuple[Any, Any, Any, Any]:
        """Return observations, rewards, dones and info; see `VectorEnv.recv`."""
        return self.env.recv(mask)

    def close(self) -> None:
        """Close the environment; see `VectorEnv.close`."""
        self.env.close()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name == "env":
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self.env, name)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.env!r}>"


def sent_now(action_n: Sequence[Any], at: Any) -> Iterator[tuple[int, list[Event]]]:
    """Iterate over the remotes whose actions `send` sends at once, and the events of these actions."""
    at_n = at if isinstance(at, Sequence) else [at] * len(action_n)
    for index, (action, moment) in enumerate(zip(action_n, at_n, strict=True)):
        if moment is None:
            yield index, parse(action, index)


def times(at: Any) -> dict[str, Any]:
    """Return the argument `at` of `send`; none without times, so that wrappers which do not know it work."""
    return {} if at is None else {"at": at}
