"""One remote as `call`, `get_attr` and `set_attr` of the vector face see it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
from gymnasium.envs.registration import EnvSpec
from gymnasium.utils import seeding

from universe_client.gym.rows import Rows
from vnc.session import Frame


class Dice:
    """A random generator that is made when it is first needed, as `gymnasium.Env` has one."""

    def __init__(self) -> None:
        """Choose no seed yet."""
        self._made: tuple[np.random.Generator, int] | None = None

    def throw(self, seed: int | None = None) -> tuple[np.random.Generator, int]:
        """Return the generator and its seed; make it of `seed`, if there is one."""
        if seed is not None or self._made is None:
            self._made = seeding.np_random(seed)
        return self._made


class RemoteFacade:
    """What is known on this side of one remote, and whatever `set_attr` adds to it.

    Beside that, what the remote lists of its environment (`callable_names`) is read, set and called there.

    Attributes:
        index: which one.
        action_space, observation_space: its spaces.
    """

    render_mode = "rgb_array"

    def __init__(
        self,
        rows: Rows,
        index: int,
        action_space: gymnasium.Space[Any],
        observation_space: gymnasium.Space[Any],
        spec: Callable[[], EnvSpec | None],
    ) -> None:
        """Show row `index`; `spec` returns what one such environment is made from."""
        self.dice, self._spec = Dice(), spec
        self.index = index
        self.action_space, self.observation_space = action_space, observation_space
        self._rows = rows
        self._remote = rows.core.remotes[index]

    @property
    def spec(self) -> EnvSpec | None:
        """What `gymnasium.make` would make it from."""
        return self._spec()

    @property
    def np_random(self) -> np.random.Generator:
        """Its random generator on this side; seeded by a reset with a seed."""
        return self.dice.throw()[0]

    @property
    def np_random_seed(self) -> int:
        """The seed of `np_random`."""
        return self.dice.throw()[1]

    def has_wrapper_attr(self, name: str) -> bool:
        """Whether there is an attribute, as `gymnasium.Env` has it."""
        return hasattr(self, name)

    def get_wrapper_attr(self, name: str) -> Any:
        """Return an attribute."""
        return getattr(self, name)

    def set_wrapper_attr(self, name: str, value: Any, *, force: bool = True) -> bool:
        """Set an attribute; without `force` only one that there is. Return whether it was set."""
        if force or self.has_wrapper_attr(name):
            setattr(self, name, value)
            return True
        return False

    @property
    def env_id(self) -> str | None:
        """What it was asked to play."""
        return self._rows.core.env_id

    @property
    def address(self) -> str:
        """Where it is, without passwords."""
        return str(self._remote.link.address)

    @property
    def state(self) -> str:
        """See `universe_client.core.link.State`."""
        return str(self._remote.link.state)

    @property
    def error(self) -> str | None:
        """What happened to it last."""
        return None if self._remote.error is None else str(self._remote.error)

    def render(self) -> Frame:
        """Return a copy of its newest frame."""
        frame: Frame = self._rows.frames[self.index].copy()
        return frame

    @property
    def callable_names(self) -> frozenset[str]:
        """What the remote lets be called, read and set in its environment; see `VectorEnv.callable_names`."""
        return self._rows.core.calls.callable_names(self.index)

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_") and name in self.callable_names:
            return self._rows.core.calls.get_attr(name, self.index)[0]
        raise AttributeError(
            f"nothing called {name!r} is known on this side of remote {self.__dict__.get('index')}, "
            "nor does the remote list it among what may be called"
        )

    def __setattr__(self, name: str, value: Any) -> None:
        if "_remote" in self.__dict__ and name in self.callable_names:
            self._rows.core.calls.set_attr(name, value, self.index)
        else:
            super().__setattr__(name, value)

    def __repr__(self) -> str:
        return f"<RemoteFacade {self._remote.link.label} {self.state}>"
