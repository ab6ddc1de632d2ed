"""The pauses between two attempts to reach a remote."""

from __future__ import annotations

import random

from universe_client.errors import ProtocolError, RemoteError
from vnc.errors import TooManyFailures

_LOCKED_OUT = 10.0
"""Seconds that TigerVNC's blacklist lasts at first; an attempt during it makes it last longer."""
JITTER = 0.5
"""A pause is longer by up to this share of it, so that remotes that were lost together come back one by one."""


class Backoff:
    """Pauses that double with each failure, from the first to the longest."""

    def __init__(self, first: float, longest: float) -> None:
        """Take both in seconds."""
        self._first, self._longest = first, longest
        self._next = first

    def restart(self) -> None:
        """An attempt has succeeded: the next pause is the first again."""
        self._next = self._first

    def pause(self, failure: RemoteError) -> float:
        """Return how many seconds to wait after `failure` until the next attempt."""
        if isinstance(failure, ProtocolError):
            self._next = self._longest  # it will most likely break the protocol again
        pause = self._next
        self._next = min(2 * pause, self._longest)
        least = _LOCKED_OUT if isinstance(failure.__cause__, TooManyFailures) else 0.0
        return max(pause, least) * random.uniform(1.0, 1.0 + JITTER)
