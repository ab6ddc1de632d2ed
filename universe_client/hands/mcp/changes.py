"""Who is told when the state of a remote changes: a new task, a reward, the end of an episode."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from mcp.server.subscriptions import InMemorySubscriptionBus, ResourceUpdated, ServerEvent

from universe_client.errors import UniverseError
from universe_client.hands.mcp.answers import state
from universe_client.hands.mcp.remotes import Desk, Remotes

_PERIOD = 0.25
"""Seconds between two looks at the state of the remotes."""


def state_uri(desk: Desk) -> str:
    """Return the address of the resource with the state of a remote."""
    return f"remote://{desk.name}/state"


class Changes(InMemorySubscriptionBus):
    """Notifies clients that subscribed to a state resource. It looks at the remotes only while a client listens."""

    def __init__(self) -> None:
        super().__init__()
        self._open: set[object] = set()
        self._has_listeners = asyncio.Event()

    def subscribe(self, listener: Callable[[ServerEvent], None]) -> Callable[[], None]:
        """Register `listener`; return what ends that."""
        end, token = super().subscribe(listener), object()
        self._open.add(token)
        self._has_listeners.set()

        def unsubscribe() -> None:
            end()
            self._open.discard(token)
            if not self._open:
                self._has_listeners.clear()

        return unsubscribe

    @asynccontextmanager
    async def of(self, remotes: Remotes) -> AsyncIterator[None]:
        """Inside, changes of `remotes` are published."""
        watches = [asyncio.create_task(self._watch(desk)) for desk in remotes]
        try:
            yield
        finally:
            for watch in watches:
                watch.cancel()
            await asyncio.gather(*watches, return_exceptions=True)

    async def _watch(self, desk: Desk) -> None:
        before: Any = None
        while True:
            if not self._open:
                await self._has_listeners.wait()
                before = None  # the first look is published: what the client has read may be older
            now = await _state(desk)
            if now != before:
                await self.publish(ResourceUpdated(uri=state_uri(desk)))
            before = now
            await asyncio.sleep(_PERIOD)


async def _state(desk: Desk) -> Any:
    try:
        return await desk.use(state)
    except UniverseError as error:  # a tool reports it
        return str(error)
