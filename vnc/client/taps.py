"""The taps of both drivers."""

from __future__ import annotations

import threading
from collections import deque
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from vnc.tap import TappedFrame

if TYPE_CHECKING:
    from vnc import _core

_LEAST = 8
"""Frames that a queue always has room for, however large they are."""


class NativeTap:
    """A `vnc.tap.Tap` of the Rust core, which copies and waits without the GIL."""

    def __init__(self, core: _core.Tap) -> None:
        self._core = core

    @property
    def refused(self) -> int:
        """See `vnc.tap.Tap.refused`."""
        return self._core.refused

    def take(self) -> TappedFrame | None:
        """See `vnc.tap.Tap.take`."""
        taken = self._core.take()
        return None if taken is None else TappedFrame(*taken)

    def end(self) -> None:
        """See `vnc.tap.Tap.end`."""
        self._core.end()


class FrameQueue:
    """A `vnc.tap.Tap` in Python."""

    def __init__(self, limit: int) -> None:
        """Return an empty queue for `limit` bytes of pixels."""
        self.refused = 0
        self._limit, self._bytes, self._has_ended = limit, 0, False
        self._waiting: deque[TappedFrame] = deque()
        self._news = threading.Condition()

    def add(self, pixels: NDArray[np.uint8], number: int, time: float, generation: int) -> None:
        """Add a copy of a frame, or count it if the queue is full."""
        with self._news:
            if self._has_ended:
                return
            if self._bytes + pixels.nbytes > self._limit and len(self._waiting) >= _LEAST:
                self.refused += 1
                return
            self._waiting.append(TappedFrame(pixels.copy(), number, time, generation, self.refused))
            self._bytes += pixels.nbytes
            self.refused = 0
            self._news.notify()

    def take(self) -> TappedFrame | None:
        """See `vnc.tap.Tap.take`."""
        with self._news:
            self._news.wait_for(lambda: self._waiting or self._has_ended)
            if not self._waiting:
                return None
            frame = self._waiting.popleft()
            self._bytes -= frame.pixels.nbytes
            return frame

    def end(self) -> None:
        """See `vnc.tap.Tap.end`."""
        with self._news:
            self._has_ended = True
            self._news.notify_all()


class Taps:
    """The taps of one session of the portable driver. Used under the lock of its front buffer."""

    def __init__(self) -> None:
        self._taps: list[FrameQueue] = []

    def open(self, limit: int) -> FrameQueue:
        """Return a new tap; see `vnc.session.Session.tap`."""
        self._taps.append(FrameQueue(limit))
        return self._taps[-1]

    def add(self, pixels: NDArray[np.uint8], number: int, time: float, generation: int) -> None:
        """Add a copy of a frame to all taps."""
        for tap in self._taps:
            tap.add(pixels, number, time, generation)

    def end(self) -> None:
        """End all taps."""
        for tap in self._taps:
            tap.end()
