"""Reports to the controlling client what people press on the remote's screen."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from functools import partial

from rewarder.protocol.episode import EpisodeId
from rewarder.protocol.messages import Input
from rewarder.protocol.sessions import WatchRequest
from rewarder.protocol.timed_input import KeyInput, PointerInput, TimedInput
from rewarder.sdk.loop.inbox import Inbox
from rewarder.server.server import RewarderServer
from vnc.events import Event, KeyEvent

INTERVAL = 1 / 60
"""Seconds of input in one message."""
MOST = 256
"""Events of one message, more than any mouse sends; further ones are counted."""


class InputFeed:
    """Input of all VNC clients but the controlling client's own, for that client if it asks. Otherwise nothing is kept.

    Use it on the event loop's thread. What people type may be secret: it is never logged.
    """

    def __init__(self, inbox: Inbox, episode: Callable[[], EpisodeId]) -> None:
        """Report nothing yet. `episode` returns the id of the present episode."""
        self._inbox, self._episode = inbox, episode
        self._tell: Callable[[EpisodeId, Input], bool] | None = None
        self._mark: int | None = None
        self._batch: list[TimedInput] = []
        self._batch_episode: EpisodeId | None = None
        self._dropped = 0
        self._timer: asyncio.TimerHandle | None = None

    def watch(self, request: WatchRequest, server: RewarderServer) -> None:
        """Report to this client from now on, until it disconnects or another one asks."""
        self._send()
        self._tell, self._mark = partial(server.tell, request.connection), request.mark

    def add(self, events: Sequence[Event], mark: int | None = None) -> None:
        """Take the input of a VNC client; `mark` tells clients apart, None is a client without one.

        In lock-step, such input has no effect and is not reported.
        """
        if self._tell is None or self._inbox.lockstep or (mark is not None and mark == self._mark):
            return
        episode, now = self._episode(), time.time()
        if episode != self._batch_episode:
            self._send()
            self._batch_episode = episode
        room = MOST - len(self._batch)
        self._batch += [_timed(event, now) for event in events[:room]]
        self._dropped += max(len(events) - room, 0)
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(INTERVAL, self._send)

    def _send(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        message = Input(self._batch, self._dropped)
        self._batch, self._dropped = [], 0
        if message.events and self._tell is not None and self._batch_episode is not None:
            self._tell = self._tell if self._tell(self._batch_episode, message) else None


def _timed(event: Event, at: float) -> TimedInput:
    if isinstance(event, KeyEvent):
        return KeyInput(event.keysym, event.down, at)
    return PointerInput(event.x, event.y, event.button_mask, at)
