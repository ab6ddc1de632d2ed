"""The part of the vector face that reaches its remotes one by one: attributes, methods, random generators."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from universe_client.core.remote_calls import Indices
from universe_client.core.vector import RemoteVector
from universe_client.errors import ConfigError
from universe_client.gym.facade import RemoteFacade
from universe_client.gym.rows import own_seed


class OneByOne(gymnasium.vector.VectorEnv[Any, Any, NDArray[Any]]):
    """The base of `GymVectorEnv`.

    Attributes:
        core: the remotes.
        facades: what `call`, `get_attr` and `set_attr` go to, one per remote.
    """

    core: RemoteVector
    facades: tuple[RemoteFacade, ...]

    @abstractmethod
    def _check_open(self) -> None: ...

    @property  # type: ignore[misc]  # as SyncVectorEnv
    def np_random(self) -> tuple[np.random.Generator, ...]:  # type: ignore[override]
        """The random generator of each row; a reset with a seed seeds them. Remotes draw with their own."""
        return tuple(facade.np_random for facade in self.facades)

    @property
    def np_random_seed(self) -> tuple[int, ...]:  # type: ignore[override]
        """The seeds of `np_random`."""
        return tuple(facade.np_random_seed for facade in self.facades)

    def _throw_dice(self, rows: Sequence[int], seed: int | Sequence[int | None] | None) -> None:
        for row in rows:
            own = own_seed(seed, row)
            if own is not None:
                self.facades[row].dice.throw(own)

    def call(self, name: str, *args: Any, indices: Indices = None, **kwargs: Any) -> tuple[Any, ...]:
        """Call a method of each `RemoteFacade`, or of the environment behind it, or read its attribute."""
        values = self.get_attr(name, indices)
        return tuple(value(*args, **kwargs) if callable(value) else value for value in values)

    def get_attr(self, name: str, indices: Indices = None) -> tuple[Any, ...]:
        """Return an attribute of each `RemoteFacade`, or of the environment behind it; `indices` choose some.

        Raises:
            AttributeError: there is none of this name on this side, and it is not what the remote lets be called.
            CallFailed: the remote did not give it.
        """
        self._check_open()
        return tuple(getattr(self.facades[index], name) for index in self.core.calls.chosen(indices))

    def set_attr(self, name: str, values: Any, indices: Indices = None) -> None:
        """Set an attribute likewise, on this side if the remote does not list it; a list or tuple has one value each.

        Raises:
            CallFailed: the remote did not take it.
        """
        self._check_open()
        chosen = self.core.calls.chosen(indices)
        each = values if isinstance(values, list | tuple) else [values] * len(chosen)
        if len(each) != len(chosen):
            raise ConfigError(f"{len(each)} values for {len(chosen)} remotes")
        for index, value in zip(chosen, each, strict=True):
            setattr(self.facades[index], name, value)
