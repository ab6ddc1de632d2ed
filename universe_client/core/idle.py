"""Noticing an agent that does not act any more while its remotes play on."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class AgentIdle:
    """What the warning is about; it is the argument of the log record.

    Attributes:
        seconds: how long no step has been made.
        remotes: how many remotes have been running meanwhile.
    """

    seconds: float
    remotes: int

    def __str__(self) -> str:
        return (
            f"no step for {self.seconds:.0f} s while {self.remotes} remotes play on: their episodes run in real time, "
            "and rewards and ends are lost on an agent that does not look"
        )


class IdleDetector:
    """Warns once, when the agent has not stepped for some time although there are remotes to act on.

    `stepped` is called on the agent's thread, all else on the event loop's.
    """

    def __init__(self, after: float, running: Callable[[], int]) -> None:
        """Warn `after` so many seconds without a step; `running` counts the remotes that run."""
        self._after, self._running = after, running
        self._stepped = time.monotonic()

    def stepped(self) -> None:
        """Note that the agent steps."""
        self._stepped = time.monotonic()

    def start(self) -> None:
        """Begin to watch."""
        self._look_in(self._after)

    def _look_in(self, seconds: float) -> None:
        asyncio.get_running_loop().call_later(seconds, self._look)

    def _look(self) -> None:
        idle, running = time.monotonic() - self._stepped, self._running()
        if idle < self._after:
            self._look_in(self._after - idle)
        elif not running:
            self._look_in(self._after)
        else:
            logger.warning("! %s", AgentIdle(idle, running))
