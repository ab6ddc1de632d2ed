"""Ticks at their deadlines, on the event loop's thread."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from rewarder.sdk.loop.inbox import Inbox
from rewarder.sdk.loop.pacing import Pace


class Beat:
    """Calls a function at each deadline of a pace, in callbacks of the running event loop.

    To wake a task for each deadline would cost as much as a small tick.
    """

    def __init__(self, pace: Pace, inbox: Inbox, tick: Callable[[], bool]) -> None:
        """`tick` returns whether another one is to follow."""
        self._pace, self._inbox, self._tick = pace, inbox, tick
        self._raised: BaseException | None = None
        self._timer: asyncio.TimerHandle

    async def run(self) -> None:
        """Run until there is something in the inbox, or no tick is to follow; raise what a tick raises."""
        self._schedule()
        try:
            await self._inbox.wait()
        finally:
            self._timer.cancel()
        if self._raised is not None:
            raise self._raised

    def _schedule(self) -> None:
        delay = self._pace.delay(time.monotonic())
        self._timer = asyncio.get_running_loop().call_later(delay, self._call)

    def _call(self) -> None:
        if self._inbox.has_news:
            return
        self._pace.ticked(time.monotonic())
        goes_on = False
        try:
            goes_on = self._tick()
        except BaseException as error:  # noqa: BLE001 - `run` raises it
            self._raised = error
        if goes_on:
            self._schedule()
        else:
            self._inbox.notify()
