"""How far the event loop has processed what has arrived: the measure for condition 3 of `frame_rule`.

A remote reports the end of an episode before it draws the next one. But the report and the frame use two connections,
and the native driver decodes frames on threads of its own. A report that was sent before a frame was drawn has arrived
when the frame is complete; a few turns of the event loop later it has been processed.
"""

from __future__ import annotations

import asyncio
import math
import threading
import time
from collections import deque
from collections.abc import Callable

_TURNS = 4
"""Turns of the event loop that a message needs from a readable socket into the reward buffer: one to find the socket
readable, one for the task that waits for the message, and two in reserve."""


class Progress:
    """Knows up to which moment (`time.monotonic()`) all arrivals have been processed. The links of a loop share it.

    `mark` and `mark_since` run on the event loop's thread, `allow` and `await_processed` on the agent's.

    An idle loop has processed everything, and need not be woken for that. The turns of a busy one are counted.
    """

    def __init__(
        self, call: Callable[[Callable[[], None]], object], is_idle: Callable[[], bool] = lambda: False
    ) -> None:
        """Begin with nothing processed.

        Args:
            call: makes the loop's thread call a function.
            is_idle: returns True if the loop has processed all that has arrived.
        """
        self._call, self._is_idle = call, is_idle
        self._condition = threading.Condition()
        self._turns = 0
        # Moments, each with the number of the turn after which everything that had arrived by then is processed.
        self._marks: deque[tuple[float, int]] = deque()
        self._marked = self._processed = self._idle = self._until = -math.inf

    def allow(self, seconds: float) -> None:
        """Let all following calls of `await_processed` together wait for at most `seconds`.

        A call takes less than a millisecond, except when the loop is blocked; then each would wait for its whole time.
        """
        self._until = time.monotonic() + seconds

    def mark(self) -> None:
        """Begin to count the turns until everything that has arrived by now is processed."""
        with self._condition:
            self._marked = time.monotonic()
            self._marks.append((self._marked, self._turns + _TURNS))
            is_counting = len(self._marks) > 1
        if not is_counting:
            asyncio.get_running_loop().call_soon(self._turn)

    def mark_since(self, moment: float) -> None:
        """Call `mark`, unless it was called after `moment`."""
        if self._marked < moment:
            self.mark()

    def _turn(self) -> None:
        with self._condition:
            self._turns += 1
            while self._marks and self._marks[0][1] <= self._turns:
                self._processed = self._marks.popleft()[0]
                self._condition.notify_all()
            is_counting = bool(self._marks)
        if is_counting:
            asyncio.get_running_loop().call_soon(self._turn)

    def await_processed(self, moment: float) -> bool:
        """Wait until all that had arrived by `moment` is processed; return False if the time of `allow` ends before."""
        if self._processed >= moment or self._idle >= moment:
            return True
        now = time.monotonic()
        if now >= moment and self._is_idle():
            self._idle = now
            return True
        if self._marked < moment:
            self._call(self.mark)
        with self._condition:
            remaining = self._until - time.monotonic()
            return self._condition.wait_for(lambda: self._processed >= moment, remaining)
