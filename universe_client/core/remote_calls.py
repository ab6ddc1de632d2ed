"""Calls into the environments of a vector of remotes, from the agent's thread."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import Any

from rewarder.protocol.messages import Call
from rewarder.protocol.values import pack
from universe_client.core.calls import METHOD
from universe_client.core.link import Link
from universe_client.core.loop import LoopThread
from universe_client.errors import ConfigError

Indices = int | Sequence[int] | None


class RemoteCalls:
    """The methods and attributes of the environments of several remotes; see `VectorEnv.call`."""

    def __init__(self, links: Sequence[Link], loop: LoopThread) -> None:
        """Call through `links`, which are used on the thread of `loop`."""
        self._links, self._loop = links, loop

    def call(self, name: str, args: Sequence[Any], kwargs: dict[str, Any], indices: Indices) -> list[Any]:
        """See `VectorEnv.call`."""
        packed = _packed("call", name, args, kwargs)
        return self._ask(packed, self.chosen(indices))

    def get_attr(self, name: str, indices: Indices) -> list[Any]:
        """See `VectorEnv.get_attr`."""
        chosen = self.chosen(indices)
        values = self._ask(Call("get", name), chosen)
        return [
            partial(self._call_one, index, name) if value is METHOD else value
            for index, value in zip(chosen, values, strict=True)
        ]

    def set_attr(self, name: str, value: Any, indices: Indices) -> None:
        """See `VectorEnv.set_attr`."""
        self._ask(_packed("set", name, (value,), {}), self.chosen(indices))

    def callable_names(self, index: int) -> frozenset[str]:
        """See `VectorEnv.callable_names`."""
        link = self._links[index]
        rewarder = link.rewarder or self._loop.run(link.connected())
        return frozenset() if rewarder is None else rewarder.offer.calls

    def chosen(self, indices: Indices) -> list[int]:
        """Return the remotes that `indices` select, as numbers from 0; None selects all.

        Raises:
            ConfigError: an index is out of range.
        """
        n = len(self._links)
        if indices is None:
            return list(range(n))
        chosen = [indices] if isinstance(indices, int) else [int(index) for index in indices]
        if not all(-n <= index < n for index in chosen):
            raise ConfigError(f"indices {chosen} are not all within {-n}..{n - 1}")
        return [index % n for index in chosen]

    def _call_one(self, index: int, name: str, *args: Any, **kwargs: Any) -> Any:
        return self.call(name, args, kwargs, index)[0]

    def _ask(self, call: Call, chosen: Sequence[int]) -> list[Any]:
        async def ask() -> list[Any]:
            return await asyncio.gather(*(self._links[index].call(call) for index in chosen))

        return self._loop.run(ask())


def _packed(operation: str, name: str, args: Sequence[Any], kwargs: dict[str, Any]) -> Call:
    try:
        packed = {key: pack(value) for key, value in kwargs.items()}
        return Call(operation, name, [pack(value) for value in args], packed)
    except ValueError as error:
        raise ConfigError(f"{name}: {error}") from error
