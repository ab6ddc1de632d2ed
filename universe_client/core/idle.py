"""Detection of an agent that no longer steps while its remotes run."""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import Callable
from dataclasses import dataclass

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class AgentIdle:
    """The argument of the warning's log record.

    Attributes:
        seconds: the time since the last step.
        remotes: how many remotes are running.
    """

    seconds: float
    remotes: int

    def __str__(self) -> str:
        return (
            f"no step for {self.seconds:.0f} s while {self.remotes} remotes are running: their episodes continue in "
            "real time, so an agent that does not step misses rewards and the ends of episodes"
        )


class IdleDetector:
    """Warns once when the agent has not stepped for some time although remotes are running.

    `stepped` is called on the agent's thread, everything else on the event loop's.
    """

    def __init__(self, after: float, count_running: Callable[[], int]) -> None:
        """Warn `after` this many seconds without a step; `count_running` returns how many remotes are running."""
        self._after, self._count_running = after, count_running
        self._stepped = time.monotonic()

    def stepped(self) -> None:
        """Note that the agent steps now."""
        self._stepped = time.monotonic()

    def stop(self) -> None:
        """Never warn; it may be called on any thread."""
        self._after = math.inf

    def start(self) -> None:
        """Begin to watch."""
        self._check_in(self._after)

    def _check_in(self, seconds: float) -> None:
        asyncio.get_running_loop().call_later(seconds, self._check)

    def _check(self) -> None:
        idle, running = time.monotonic() - self._stepped, self._count_running()
        if idle < self._after:
            self._check_in(self._after - idle)
        elif not running:
            self._check_in(self._after)
        else:
            logger.warning("! %s", AgentIdle(idle, running))
