"""When the portable driver requests updates for a caller that takes frames at known times.

The native driver has the same in `vnc/core/sessions/src/looks.rs`, which explains the estimate of the latency.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable
from contextlib import suppress

_MARGIN = 0.004  # seconds by which a frame is to arrive before the look
_LATE = 0.01  # seconds after which a look is late
_APART = 0.01  # seconds between two requests that are worth the second
_FIRST_LATENCY = 0.01
_GROWTH = 3.0
_FADE = 0.98


class Looks:
    """The next look at one session, and how long its requests take.

    `listen`, `announce` and `record` may be called on any thread, the others on the event loop's that made the object.

    Attributes:
        held: whether updates are not to be followed by requests.
    """

    def __init__(self, ask: Callable[[], bool]) -> None:
        """`ask` requests the next change; it returns False if a request is open already."""
        self.held = False
        self._ask = ask
        self._listens, self._announced, self._is_recorded = True, False, False
        self._loop = asyncio.get_running_loop()
        self._worst = self._usual = _FIRST_LATENCY
        self._asked: float | None = None  # when an update was requested whose frame has not arrived
        self._timer: asyncio.TimerHandle | None = None

    def announce(self, look: float) -> None:
        """Announce the next look; see `vnc.session.Session.next_look`."""
        if not math.isfinite(look):
            raise ValueError(f"a look at {look} is never")
        if not (self._listens or self._is_recorded):
            self._announced = True
            self._call(self._hold, look)

    def listen(self, listens: bool) -> None:
        """Take note of whether the caller may look at any time, as at first."""
        self._listens = listens
        if listens and self._announced:
            self._announced = False
            self._call(self._follow)

    def _call(self, function: Callable[..., None], *arguments: float) -> None:
        with suppress(RuntimeError):  # the loop is closed, and with it the session
            self._loop.call_soon_threadsafe(function, *arguments)

    def record(self) -> None:
        """From now on every frame is wanted."""
        self._is_recorded = True
        self._call(self._follow)

    def frame(self) -> None:
        """Take note of a frame."""
        if self._asked is None:
            return
        sample = min(time.monotonic() - self._asked, _GROWTH * self._usual + _MARGIN)
        self._worst = max(sample, self._worst + (sample - self._worst) / 8)
        self._usual += (sample - self._usual) / 4
        self._asked = None

    def stop(self) -> None:
        """End the timer; the session has ended."""
        if self._timer is not None:
            self._timer.cancel()

    def _hold(self, look: float) -> None:
        self.stop()
        half = (look - time.monotonic()) / 2
        if self._usual + _MARGIN > half:
            self._usual *= _FADE
            self._follow()
        else:
            self.held = True
            lead = min(self._worst + _MARGIN, half)
            self._timer = self._loop.call_at(look - lead, self._request, look, look - lead)

    def _request(self, look: float, time_of_turn: float) -> None:
        if self._ask():
            self._asked = time.monotonic()
        second = look - self._usual - _MARGIN
        if second - time_of_turn > _APART:
            self._timer = self._loop.call_at(second, self._request, look, second)
        else:
            self._timer = self._loop.call_at(look + _LATE, self._follow)

    def _follow(self) -> None:
        self.stop()
        self.held, self._asked = False, None
        self._ask()
