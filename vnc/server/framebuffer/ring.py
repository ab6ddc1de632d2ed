"""The buffers of a screen: one contains the newest frame, and readers hold others while the next one is drawn."""

from __future__ import annotations

import mmap
import sys
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vnc.pixels.pixel_format import Codes, WordLayout
from vnc.server.framebuffer.damage import TILE, Rect, tiles
from vnc.session import Frame

_GUARD = 64
"""Spare bytes before and after the pixels of a buffer: a pixel that is read as a word extends one byte beyond."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the buffers lie in the memory. The rows of a buffer are padded to whole tiles.

    Attributes:
        width: of a frame, in pixels.
        height: of a frame, in pixels.
        buffers: how many there are.
    """

    width: int
    height: int
    buffers: int

    @property
    def stride(self) -> int:
        """The bytes of a row."""
        return tiles(self.width) * TILE * 3

    @property
    def rows(self) -> int:
        """The rows of a buffer."""
        return tiles(self.height) * TILE

    @property
    def offset(self) -> int:
        """Where the first buffer begins, in bytes."""
        return _GUARD

    @property
    def distance(self) -> int:
        """The bytes from the start of a buffer to the start of the next: whole pages."""
        return -(-(self.stride * self.rows + 2 * _GUARD) // mmap.PAGESIZE) * mmap.PAGESIZE

    @property
    def size(self) -> int:
        """The bytes of the memory."""
        return self.buffers * self.distance


class Buffer:
    """One frame in packed RGB."""

    def __init__(self, layout: Layout, memory: mmap.mmap, number: int) -> None:
        self.number = number
        self._stride = layout.stride
        self._memory = memory
        self._start = layout.offset + number * layout.distance
        self.rows: NDArray[np.uint8] = np.ndarray(
            (layout.rows, layout.stride), np.uint8, buffer=memory, offset=self._start
        )
        self.rgb: Frame = self.rows.reshape(layout.rows, -1, 3)[: layout.height, : layout.width]

    def codes(self, rect: Rect, layout: WordLayout) -> Codes:
        """Return the pixels of `rect`, each read as one unaligned word, which is faster than channel by channel."""
        offset = self._start + rect.y * self._stride + rect.x * 3 + layout.first
        dtype = np.dtype(np.uint32)
        words: NDArray[np.uint32] = np.ndarray(
            (rect.height, rect.width),
            dtype.newbyteorder() if layout.swap else dtype,
            buffer=self._memory,
            offset=offset,
            strides=(self._stride, 3),
        )
        codes = words.astype(dtype, order="C")
        codes &= np.uint32(layout.mask)
        return codes


class Ring:
    """The buffers, and how many readers hold each.

    INVARIANT: nobody writes into a buffer that is held. One buffer is always spare: neither held nor the newest.
    """

    def __init__(self, layout: Layout, memory: mmap.mmap) -> None:
        self.layout = layout
        self._buffers = [Buffer(layout, memory, number) for number in range(layout.buffers)]
        self._holds = [0] * layout.buffers
        self.newest = self._buffers[0]

    def spare(self) -> Buffer:
        """Return a buffer to write the next frame into."""
        for buffer in self._buffers:
            if buffer is not self.newest and not self._holds[buffer.number]:
                return buffer
        raise AssertionError("readers hold all buffers")

    def unheld(self) -> Buffer:
        """Return the newest buffer, to change parts of it: a copy becomes the newest if somebody holds it."""
        held = self.newest
        if self._holds[held.number]:
            self.newest = self.spare()
            self.newest.rows[...] = held.rows
        return self.newest

    def hold(self) -> bool:
        """Keep the newest buffer unchanged until its release; return False if too many others are held."""
        newest = self.newest.number
        # One buffer is for the newest frame and one for the next.
        if not self._holds[newest] and self._holds.count(0) <= 2:
            return False
        self._holds[newest] += 1
        return True

    def release(self, number: int) -> None:
        """Undo a `hold` of the buffer that was the newest then."""
        self._holds[number] -= 1


def private_ring(width: int, height: int) -> Ring:
    """Return two buffers in memory of this process alone, which nobody can hold."""
    layout = Layout(width, height, 2)
    if sys.platform == "win32":
        return Ring(layout, mmap.mmap(-1, layout.size))
    return Ring(layout, mmap.mmap(-1, layout.size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS))
