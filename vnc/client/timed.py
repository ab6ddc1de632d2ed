"""Input that an event loop sends at given times, for sessions whose bytes the loop writes."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress

from vnc.events import Event, TimedEvents


class LoopPlan:
    """What `Session.plan` and `Session.played` do, on the running event loop.

    The loop needs the GIL, and its timers have a resolution of a millisecond: input is late while another thread
    computes.
    """

    def __init__(self, send: Callable[[Sequence[Event]], object]) -> None:
        """Prepare a plan; `send` sends events, and is called on the loop's thread."""
        self._send = send
        self._loop = asyncio.get_running_loop()
        self._lock = threading.Lock()  # also while something is sent: a plan that was replaced is not played
        self._waiting: deque[TimedEvents] = deque()
        self._played: list[float] = []
        self._timer: asyncio.TimerHandle | None = None

    def replace(self, since: float, timed: Sequence[TimedEvents]) -> int:
        """See `vnc.session.Session.plan`."""
        dropped = 0
        with self._lock:
            while self._waiting and self._waiting[-1][0] >= since:
                self._waiting.pop()
                dropped += 1
            self._waiting.extend(timed)
        with suppress(RuntimeError):  # the loop is closed, and with it the session
            self._loop.call_soon_threadsafe(self._play)
        return dropped

    def played(self) -> list[float]:
        """See `vnc.session.Session.played`."""
        with self._lock:
            played, self._played = self._played, []
        return played

    def _play(self) -> None:
        """Send what is due, and wait for the next."""
        if self._timer is not None:
            self._timer.cancel()
        with self._lock:
            while self._waiting and self._waiting[0][0] <= time.monotonic():
                self._send(self._waiting.popleft()[1])
                self._played.append(time.monotonic())
            self._timer = self._loop.call_at(self._waiting[0][0], self._play) if self._waiting else None
