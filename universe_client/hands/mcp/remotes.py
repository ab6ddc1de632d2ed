"""The remotes of a server, by the names that a model calls them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import TypeVar

import anyio

from universe_client.errors import UniverseError
from universe_client.hands import Computer
from universe_client.vector_env import VectorEnv

MAX_SIDE = 1568
"""Pixels of the longer side of a picture, unless a tool is asked for more: common models look at no more."""

_AGAIN = 0.05  # seconds between two attempts to interrupt a call that is just about to begin
T = TypeVar("T")


class UnknownRemote(UniverseError, ValueError):
    """A tool was called for a remote that there is not."""


class Desk:
    """One remote, at which one call works at a time, in the order of their arrival.

    Attributes:
        name: what the tools call it.
    """

    def __init__(self, name: str, computer: Computer) -> None:
        self.name, self._computer = name, computer
        self._turn = asyncio.Lock()

    async def use(self, work: Callable[[Computer], T]) -> T:
        """Run `work` in a thread and return its result; if this is cancelled, nothing stays pressed.

        Raises:
            UniverseError: what `work` raises.
        """
        async with self._turn:
            thread = asyncio.ensure_future(asyncio.to_thread(work, self._computer))
            try:
                return await asyncio.shield(thread)
            except asyncio.CancelledError:
                with anyio.CancelScope(shield=True):
                    while not thread.done():
                        self._computer.interrupt()
                        await asyncio.wait([thread], timeout=_AGAIN)
                raise

    def close(self) -> None:
        """Release what is down."""
        self._computer.close()


class Remotes:
    """The remotes of one environment, which the caller closes."""

    def __init__(self, env: VectorEnv) -> None:
        """Take all remotes.

        Raises:
            LocalStateError: a remote has another `Computer`.
        """
        computers = [Computer(env, index, max_size=(MAX_SIDE, MAX_SIDE)) for index in range(env.n)]
        desks = [Desk(f"remote-{index}", computer) for index, computer in enumerate(computers)]
        self._desks = {desk.name: desk for desk in desks}

    def __iter__(self) -> Iterator[Desk]:
        return iter(self._desks.values())

    def __len__(self) -> int:
        return len(self._desks)

    def pick(self, name: str | None) -> Desk:
        """Return the remote of that name; None means the only one.

        Raises:
            UnknownRemote: there is no such remote, or there are several and `name` is None.
        """
        names = ", ".join(self._desks)
        if name is None and len(self) > 1:
            raise UnknownRemote(f"there are {len(self)} remotes; say which one with remote=: {names}")
        name = names if name is None else name
        if name not in self._desks:
            raise UnknownRemote(f"there is no remote {name!r}; there are: {names}")
        return self._desks[name]

    def close(self) -> None:
        """Release what is down on all remotes."""
        for desk in self:
            desk.close()
