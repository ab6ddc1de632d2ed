"""Pixels must not outrun what is said about them.

A remote says that an episode is over before it draws the next, but on two connections, and frames may be decoded on
threads of their own. What was said before a frame was drawn has reached this machine when the frame has; a few turns of
the event loop later it has been heard, and only then is the frame known to be of the episode that is on.
"""

from __future__ import annotations

import asyncio
import math
import threading
import time
from collections import deque
from collections.abc import Callable

_TURNS = 4
"""Turns of the event loop that a message needs at most from a readable socket into the reward buffer: one to find the
socket readable, one for the task that waits for the message, and as many to spare."""


class Witness:
    """Knows up to which moment (`time.monotonic()`) all that had come has been heard; shared by the links of a loop."""

    def __init__(self, call: Callable[[Callable[[], None]], object]) -> None:
        """Begin with nothing heard; `call` runs a function on the loop's thread, soon."""
        self._call = call
        self._condition = threading.Condition()
        self._turns = 0
        self._marks: deque[tuple[float, int]] = (
            deque()
        )  # moments, and the turns after which what had come by then will have been heard
        self._marked = self._heard = self._until = -math.inf

    def allow(self, seconds: float) -> None:
        """Let the calls of `heard` from here on wait for `seconds` in all; there is one thread that calls both.

        They take less than a millisecond, but where the loop stands still each would wait in vain.
        """
        self._until = time.monotonic() + seconds

    def mark(self) -> None:
        """Begin to hear out what has come by now. On the loop."""
        with self._condition:
            self._marked = time.monotonic()
            self._marks.append((self._marked, self._turns + _TURNS))
            counting = len(self._marks) > 1
        if not counting:
            asyncio.get_running_loop().call_soon(self._turn)

    def mark_since(self, moment: float) -> None:
        """Do what `mark` does, unless that was done after `moment`. On the loop."""
        if self._marked < moment:
            self.mark()

    def _turn(self) -> None:
        with self._condition:
            self._turns += 1
            while self._marks and self._marks[0][1] <= self._turns:
                self._heard = self._marks.popleft()[0]
                self._condition.notify_all()
            counting = bool(self._marks)
        if counting:
            asyncio.get_running_loop().call_soon(self._turn)

    def heard(self, moment: float) -> bool:
        """Wait until what had come by `moment` has been heard; return False if `allow` does not leave the time."""
        if self._heard >= moment:
            return True
        if self._marked < moment:
            self._call(self.mark)
        with self._condition:
            left = self._until - time.monotonic()
            return self._condition.wait_for(lambda: self._heard >= moment, left)
