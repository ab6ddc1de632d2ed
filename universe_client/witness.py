"""Pixels must not outrun what is said about them.

A remote says that an episode is over before it draws the next, but on two connections, and frames may be decoded on
threads of their own. What was said before a frame was drawn has reached this machine when the frame has; a few turns of
the event loop later it has been heard, and only then is the frame known to be of the episode that is on.
"""

from __future__ import annotations

import asyncio
import threading

_TURNS = 4
"""Turns of the event loop that a message needs at most from a readable socket into the reward buffer: one to find the
socket readable, one for the task that waits for the message, and as many to spare."""


class Witness:
    """Knows up to which frame of a session everything that was said before it has been heard."""

    def __init__(self) -> None:
        self._coming = 0
        self._heard = 0
        self._condition = threading.Condition()

    def forget(self) -> None:
        """Another session counts its frames anew. On the loop."""
        self._coming = self._heard = 0

    def frame(self, number: int) -> None:
        """Frame `number` has arrived. On the loop."""
        if number > self._coming:
            self._coming = number
            self._turn(number, _TURNS)

    def _turn(self, number: int, left: int) -> None:
        if left:
            asyncio.get_running_loop().call_soon(self._turn, number, left - 1)
        elif self._heard < number <= self._coming:
            with self._condition:
                self._heard = number
                self._condition.notify_all()

    def heard(self, number: int, timeout: float) -> bool:
        """Wait until what was said before frame `number` has been heard; it takes less than a millisecond."""
        if self._heard >= number:
            return True
        with self._condition:
            return self._condition.wait_for(lambda: self._heard >= number, timeout)
