"""A screen that is a copy of another one, and the order of requests and pixels that its clients rely on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

MAX_WAITING = 1000
"""Requests of one client that may wait for the screen."""


class Source(Protocol):
    """The screen of which a server shows a copy. The server asks for what its clients need."""

    def wanted(self) -> None:
        """Take note that a client waits for the next change."""
        ...

    def refresh(self, then: Callable[[], object]) -> None:
        """Call `then` when the copy contains all that is on the screen at this call; never, if the screen is silent."""
        ...


class Barrier:
    """Delays requests of one client until the screen is as new as they are.

    Clients rely on this order: the whole screen that they request, and what precedes the answer to a fence, is what the
    screen showed when the server read the request, or newer.
    """

    def __init__(self, source: Source | None, flush: Callable[[], object]) -> None:
        self.waiting = 0
        self._source = source
        self._flush = flush
        self._open = True

    def pass_on(self, act: Callable[[], None]) -> None:
        """Call `act`: at once, or when the screen is fresh, followed by `flush`; in the order of the calls."""
        if self._source is None:
            act()
            return
        self.waiting += 1
        self._source.refresh(lambda: self._act(act))

    def close(self) -> None:
        """Call nothing any more."""
        self._open = False

    def _act(self, act: Callable[[], None]) -> None:
        self.waiting -= 1
        if self._open:
            act()
            self._flush()
