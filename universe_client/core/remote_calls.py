"""Calls into the environments of a vector of remotes, from the agent's thread."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import partial
from typing import Any

from rewarder.protocol.messages import Call
from rewarder.protocol.values import pack
from universe_client.core.calls import METHOD
from universe_client.core.loop import LoopThread
from universe_client.core.remote import Remote
from universe_client.errors import ConfigError

Indices = int | Sequence[int] | None


class RemoteCalls(ABC):
    """The part of `VectorEnv` that reaches inside.

    Attributes:
        n: how many remotes.
        remotes: the remotes.
    """

    n: int
    remotes: list[Remote]
    _loop: LoopThread

    @abstractmethod
    def _check_alive(self) -> None: ...

    def call(self, name: str, *args: Any, indices: Indices = None, **kwargs: Any) -> list[Any]:
        """Call a method of the remotes' environments, all at once; return the results.

        Only a remote that lists the name lets it be called: `allowed_calls=("name",)` for remotes that are started
        here, `--call name` for others. Arguments and results are JSON's types and numpy's arrays of numbers. This waits
        for each remote to be connected, and then for its answer, each `reset_timeout` at most.

        Args:
            name: of a method, or of an attribute to be read.
            indices: which remotes; one number, several, or None for all.
            args, kwargs: of the call.

        Raises:
            Unsupported: a remote has not listed this name.
            CallFailed: the environment raised, no answer came, or the remote is not connected in time.
            ConfigError: an index is none of a remote, or an argument cannot be sent.
        """
        packed = _packed("call", name, args, kwargs)
        return self._ask(packed, self.chosen(indices))

    def get_attr(self, name: str, indices: Indices = None) -> list[Any]:
        """Return an attribute of the remotes' environments; of a method, what calls it. See `call`."""
        chosen = self.chosen(indices)
        values = self._ask(Call("get", name), chosen)
        return [
            partial(self._call_one, index, name) if value is METHOD else value
            for index, value in zip(chosen, values, strict=True)
        ]

    def set_attr(self, name: str, value: Any, indices: Indices = None) -> None:
        """Set an attribute of the remotes' environments to `value`. See `call`."""
        self._ask(_packed("set", name, (value,), {}), self.chosen(indices))

    def callable_names(self, index: int) -> frozenset[str]:
        """Return what remote `index` lets be called, read and set; this waits until it is connected.

        Raises:
            CallFailed: it is not connected within `reset_timeout` seconds, or it is closed for good.
        """
        self._check_alive()
        link = self.remotes[index].link
        rewarder = link.rewarder or self._loop.run(link.connected())
        return frozenset() if rewarder is None else rewarder.offer.calls

    def chosen(self, indices: Indices) -> list[int]:
        """Return the remotes that `indices` mean.

        Raises:
            ConfigError: one of them is none.
        """
        if indices is None:
            return list(range(self.n))
        chosen = [indices] if isinstance(indices, int) else [int(index) for index in indices]
        if not all(-self.n <= index < self.n for index in chosen):
            raise ConfigError(f"indices {chosen} are not all within {-self.n}..{self.n - 1}")
        return [index % self.n for index in chosen]

    def _call_one(self, index: int, name: str, *args: Any, **kwargs: Any) -> Any:
        return self.call(name, *args, indices=index, **kwargs)[0]

    def _ask(self, call: Call, chosen: Sequence[int]) -> list[Any]:
        self._check_alive()

        async def ask() -> list[Any]:
            return await asyncio.gather(*(self.remotes[index].link.call(call) for index in chosen))

        return self._loop.run(ask())


def _packed(operation: str, name: str, args: Sequence[Any], kwargs: dict[str, Any]) -> Call:
    try:
        packed = {key: pack(value) for key, value in kwargs.items()}
        return Call(operation, name, [pack(value) for value in args], packed)
    except ValueError as error:
        raise ConfigError(f"{name}: {error}") from error
