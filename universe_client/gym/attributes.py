"""Attributes, methods and random generators of single remotes: `call`, `get_attr` and `set_attr` of the vector face."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.envs.registration import EnvSpec
from gymnasium.utils import seeding
from numpy.typing import NDArray

from universe_client.core.calls import Indices
from universe_client.core.vector import RemoteVector
from universe_client.errors import ConfigError
from universe_client.gym.batch.rows import Rows, own_seed
from universe_client.gym.tile import tile
from vnc.session import Frame


class RandomGenerator:
    """A numpy random generator and its seed, created when first needed, as `gymnasium.Env` does."""

    def __init__(self) -> None:
        self._created: tuple[np.random.Generator, int] | None = None

    def get(self, seed: int | None = None) -> tuple[np.random.Generator, int]:
        """Return the generator and its seed; a `seed` replaces the generator."""
        if seed is not None or self._created is None:
            self._created = seeding.np_random(seed)
        return self._created


class RemoteFacade:
    """One remote, as `call`, `get_attr` and `set_attr` of `GymVectorEnv` see it.

    The attributes below exist on this side of the connection. `set_attr` may add more. Attributes of the remote's
    environment that the remote allows (`callable_names`) are read, set and called over the connection.

    Attributes:
        index: the row of this remote, from 0.
        action_space, observation_space: the spaces of one remote.
        random: the random generator of this row.
        render_mode: always `"rgb_array"`.
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
        """Wrap row `index` of `rows`; `spec` returns the spec of one such environment."""
        self.random, self._spec = RandomGenerator(), spec
        self.index = index
        self.action_space, self.observation_space = action_space, observation_space
        self._rows = rows
        self._remote = rows.core.remotes[index]

    @property
    def spec(self) -> EnvSpec | None:
        """The spec from which `gymnasium.make` would make this environment; None without a registered id."""
        return self._spec()

    @property
    def np_random(self) -> np.random.Generator:
        """The random generator of this row on this side; a reset with a seed seeds it."""
        return self.random.get()[0]

    @property
    def np_random_seed(self) -> int:
        """The seed of `np_random`."""
        return self.random.get()[1]

    def has_wrapper_attr(self, name: str) -> bool:
        """Return whether attribute `name` exists; see `gymnasium.Env.has_wrapper_attr`."""
        return hasattr(self, name)

    def get_wrapper_attr(self, name: str) -> Any:
        """Return attribute `name`; see `gymnasium.Env.get_wrapper_attr`."""
        return getattr(self, name)

    def set_wrapper_attr(self, name: str, value: Any, *, force: bool = True) -> bool:
        """Set attribute `name`, without `force` only if it exists; return whether it was set."""
        if force or self.has_wrapper_attr(name):
            setattr(self, name, value)
            return True
        return False

    @property
    def env_id(self) -> str | None:
        """The environment id that the remotes were asked to run; None if they choose."""
        return self._rows.core.env_id

    @property
    def address(self) -> str:
        """The remote's address, without passwords."""
        return str(self._remote.link.address)

    @property
    def state(self) -> str:
        """The connection's state, such as "running"; see `universe_client.core.link.State`."""
        return str(self._remote.link.state)

    @property
    def error(self) -> str | None:
        """The message of the remote's last error; None if it had none."""
        return None if self._remote.error is None else str(self._remote.error)

    def render(self) -> Frame:
        """Return a copy of the newest frame, uint8 (height, width, 3), RGB."""
        return self._rows.screen(self.index).copy()

    @property
    def callable_names(self) -> frozenset[str]:
        """The attributes of the remote's environment that may be called, read and set."""
        return self._rows.core.calls.callable_names(self.index)

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_") and name in self.callable_names:
            return self._rows.core.calls.get_attr(name, self.index)[0]
        raise AttributeError(
            f"remote {self.__dict__.get('index')} has no attribute {name!r} on this side, and does not allow it to be "
            "called in its environment: see allowed_calls="
        )

    def __setattr__(self, name: str, value: Any) -> None:
        if "_remote" in self.__dict__ and name in self.callable_names:
            self._rows.core.calls.set_attr(name, value, self.index)
        else:
            super().__setattr__(name, value)

    def __repr__(self) -> str:
        return f"<RemoteFacade {self._remote.link.label} {self.state}>"


def facades(
    rows: Rows,
    action_space: gymnasium.Space[Any],
    observation_space: gymnasium.Space[Any],
    spec: Callable[[], EnvSpec | None],
) -> tuple[RemoteFacade, ...]:
    """Return the facade of each of `rows`; see `RemoteFacade`."""
    return tuple(
        RemoteFacade(rows, index, action_space, observation_space, spec) for index in range(rows.core.n)
    )


class RemoteAttributes(gymnasium.vector.VectorEnv[Any, Any, NDArray[Any]]):
    """The base of `GymVectorEnv`: access to the attributes of single remotes, and their frames.

    Attributes:
        core: the remotes.
        facades: the targets of `call`, `get_attr` and `set_attr`, one per remote.
    """

    core: RemoteVector
    facades: tuple[RemoteFacade, ...]

    @abstractmethod
    def _check_open(self) -> None: ...

    def render(self) -> Any:
        """Return copies of the newest frames that `step` has returned.

        Returns:
            For `"rgb_array"` a tuple of `num_envs` uint8 arrays (height, width, 3), RGB; for `"rgb_array_tiled"` one
            uint8 array with all of them side by side; for `"human"` None.

        Raises:
            ConfigError: `render_mode` is None.
            ClosedEnvironmentError: the environment is closed.
        """
        self._check_open()
        if self.render_mode is None:
            raise ConfigError("render() needs a render_mode: 'rgb_array' or 'rgb_array_tiled'")
        if self.render_mode == "human":
            return None
        frames = tuple(facade.render() for facade in self.facades)
        return tile(np.stack(frames)) if self.render_mode == "rgb_array_tiled" else frames

    @property  # type: ignore[misc]  # as SyncVectorEnv
    def np_random(self) -> tuple[np.random.Generator, ...]:  # type: ignore[override]
        """The random generators, one per row, on this side; a reset with a seed seeds them. Remotes have their own."""
        return tuple(facade.np_random for facade in self.facades)

    @property
    def np_random_seed(self) -> tuple[int, ...]:  # type: ignore[override]
        """The seeds of `np_random`, one per row."""
        return tuple(facade.np_random_seed for facade in self.facades)

    def _seed_generators(self, rows: Sequence[int], seed: int | Sequence[int | None] | None) -> None:
        for row in rows:
            own = own_seed(seed, row)
            if own is not None:
                self.facades[row].random.get(own)

    def call(self, name: str, *args: Any, indices: Indices = None, **kwargs: Any) -> tuple[Any, ...]:
        """Call a method of each `RemoteFacade` or of the environment behind it; return an attribute that is no method.

        Args:
            name: the method's name, such as "render".
            args, kwargs: its arguments; for a method of the remote's environment JSON types and numpy arrays.
            indices: the rows: an int, a sequence of ints, or None for all.

        Returns:
            One result per row.

        Raises:
            AttributeError: the name exists neither on this side nor among the calls that the remote allows.
            CallFailed: the remote's environment raised, or did not answer in time.
        """
        values = self.get_attr(name, indices)
        return tuple(value(*args, **kwargs) if callable(value) else value for value in values)

    def get_attr(self, name: str, indices: Indices = None) -> tuple[Any, ...]:
        """Return an attribute of each `RemoteFacade` or of the environment behind it.

        Args:
            name: the attribute's name, such as "state" or, if the remote allows it, "gravity".
            indices: the rows: an int, a sequence of ints, or None for all.

        Returns:
            One value per row.

        Raises:
            AttributeError: the name exists neither on this side nor among the calls that the remote allows.
            CallFailed: the remote's environment raised, or did not answer in time.
        """
        self._check_open()
        return tuple(getattr(self.facades[index], name) for index in self.core.calls.chosen(indices))

    def set_attr(self, name: str, values: Any, indices: Indices = None) -> None:
        """Set an attribute in the remote's environment if the remote allows it, otherwise on this side.

        Args:
            name: the attribute's name.
            values: a list or tuple with one value per row, or one value for all.
            indices: the rows: an int, a sequence of ints, or None for all.

        Raises:
            ConfigError: the number of values is not the number of rows.
            CallFailed: the remote's environment raised, or did not answer in time.
        """
        self._check_open()
        chosen = self.core.calls.chosen(indices)
        each = values if isinstance(values, list | tuple) else [values] * len(chosen)
        if len(each) != len(chosen):
            raise ConfigError(
                f"{len(each)} values for {len(chosen)} remotes: give one value for each, or one for all"
            )
        for index, value in zip(chosen, each, strict=True):
            setattr(self.facades[index], name, value)
