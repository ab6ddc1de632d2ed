"""The pauses between attempts to connect to a remote."""

from __future__ import annotations

import random

from universe_client.errors import NoRoom, ProtocolError, RemoteError
from vnc.errors import TooManyFailures

_LOCKED_OUT = 10.0
"""Seconds for which TigerVNC's blacklist first refuses a client; an attempt during that time doubles them."""
JITTER = 0.5
"""A pause is lengthened at random by up to this fraction, so that remotes that were lost together do not all reconnect
at the same moment."""


class Backoff:
    """Pauses that double with each failure, up to a maximum."""

    def __init__(self, first: float, longest: float) -> None:
        """Begin with a pause of `first` seconds; no pause is longer than `longest` seconds, apart from the jitter."""
        self._first, self._longest = first, longest
        self._next = first

    def restart(self) -> None:
        """Begin with the first pause again, after an attempt that succeeded."""
        self._next = self._first

    def pause(self, failure: RemoteError) -> float:
        """Return how many seconds to wait after `failure` before the next attempt."""
        if isinstance(failure, NoRoom):
            self.restart()  # what it waits for may happen at any moment
        if isinstance(failure, ProtocolError):
            self._next = self._longest  # a server that violates the protocol most likely does so again
        pause = self._next
        self._next = min(2 * pause, self._longest)
        least = _LOCKED_OUT if isinstance(failure.__cause__, TooManyFailures) else 0.0
        return max(pause, least) * random.uniform(1.0, 1.0 + JITTER)
