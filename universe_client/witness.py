"""Pixels must not outrun what is said about them.

A remote says that an episode is over before it draws the next, but on two connections, and frames may be decoded on
threads of their own. What was said before a frame was drawn has reached this machine when the frame has; a few turns of
the event loop later it has been heard, and only then is the frame known to be of the episode that is on.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque

_TURNS = 4
"""Turns of the event loop that a message needs at most from a readable socket into the reward buffer: one to find the
socket readable, one for the task that waits for the message, and as many to spare."""


class Turns:
    """Counts the turns of an event loop, as long as somebody waits for one; shared by all of a loop's witnesses."""

    def __init__(self) -> None:
        self.now = 0
        self.condition = threading.Condition()
        self._last = 0
        self._counting = False

    def mark(self) -> int:
        """Return the turn in which everything that has reached this machine by now will have been heard."""
        self._last = self.now + _TURNS
        if not self._counting:
            self._counting = True
            asyncio.get_running_loop().call_soon(self._turn)
        return self._last

    def _turn(self) -> None:
        with self.condition:
            self.now += 1
            self.condition.notify_all()
        if self.now < self._last:
            asyncio.get_running_loop().call_soon(self._turn)
        else:
            self._counting = False


class Witness:
    """Knows up to which frame of a session everything that was said before it has been heard."""

    def __init__(self, turns: Turns) -> None:
        self._turns = turns
        self._coming: deque[tuple[int, int]] = (
            deque()
        )  # frames, and the turns in which they will have been witnessed
        self._newest = 0
        self._heard = 0

    def forget(self) -> None:
        """Another session counts its frames anew. On the loop."""
        with self._turns.condition:
            self._coming.clear()
            self._newest = self._heard = 0

    def frame(self, number: int) -> None:
        """Frame `number` has arrived. On the loop."""
        if number > self._newest:
            with self._turns.condition:
                self._newest = number
                self._is_heard(0)
                self._coming.append((number, self._turns.mark()))

    def heard(self, number: int, timeout: float) -> bool:
        """Wait until what was said before frame `number` has been heard; it takes less than a millisecond."""
        if self._heard >= number:
            return True
        with self._turns.condition:
            return self._turns.condition.wait_for(lambda: self._is_heard(number), timeout)

    def _is_heard(self, number: int) -> bool:
        while self._coming and self._coming[0][1] <= self._turns.now:
            self._heard = self._coming.popleft()[0]
        return self._heard >= number
