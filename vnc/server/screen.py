"""The framebuffer of a server: it finds the changed tiles of a new frame and converts pixels."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from vnc.pixel_format import Codes, PixelFormat, WordLayout, convert, word_layout
from vnc.server.damage import TILE, Grid, Rect, changed_tiles, tiles, touched
from vnc.session import Frame

_GUARD = 8  # spare bytes at either end: a pixel read as a word extends one byte beyond
_CACHE_SIZE = 16  # converted areas cached per frame; clients may request any number of areas


class _Buffer:
    """One frame in packed RGB; rows are padded to whole tiles."""

    def __init__(self, width: int, height: int) -> None:
        self._stride = tiles(width) * TILE * 3
        rows = tiles(height) * TILE
        size = self._stride * rows
        self._bytes = np.zeros(size + 2 * _GUARD, np.uint8)
        pixels = self._bytes[_GUARD : _GUARD + size].reshape(rows, self._stride)
        self.words: NDArray[np.uint64] = pixels.view(np.uint64)
        self.rgb: Frame = pixels.reshape(rows, -1, 3)[:height, :width]

    def codes(self, rect: Rect, layout: WordLayout) -> Codes:
        """Return the pixels of `rect`, each read as one unaligned word, which is faster than channel by channel."""
        offset = _GUARD + rect.y * self._stride + rect.x * 3 + layout.first
        dtype = np.dtype(np.uint32)
        words: NDArray[np.uint32] = np.ndarray(
            (rect.height, rect.width),
            dtype.newbyteorder() if layout.swap else dtype,
            buffer=self._bytes.data,
            offset=offset,
            strides=(self._stride, 3),
        )
        codes = words.astype(dtype, order="C")
        codes &= np.uint32(layout.mask)
        return codes


class Screen:
    """A screen with two buffers, for the newest frame and the one before, which each `present` swaps."""

    def __init__(self, width: int, height: int) -> None:
        self.rect = Rect(0, 0, width, height)
        self._front = _Buffer(width, height)
        self._back = _Buffer(width, height)
        self._cache: dict[tuple[Rect, PixelFormat], Codes] = {}

    def present(self, frame: Frame) -> Grid | None:
        """Copy a frame; return the tiles that changed, None if none did.

        Raises:
            ValueError: the frame does not have the shape (height, width, 3) of the screen, or is not uint8.
        """
        if frame.shape != self._back.rgb.shape or frame.dtype != np.uint8:
            raise ValueError(
                f"a frame of this screen is uint8 {self._back.rgb.shape}, not {frame.dtype} {frame.shape}"
            )
        self._back.rgb[...] = frame
        grid = changed_tiles(self._front.words, self._back.words)
        if not grid.any():
            return None
        self._front, self._back = self._back, self._front
        self._cache.clear()
        return grid

    def paint(self, rects: Sequence[Rect], draw: Callable[[Frame], object]) -> Grid:
        """Have `draw` change the newest frame inside `rects`; return the tiles that they touch."""
        draw(self._front.rgb)
        self._cache.clear()
        return touched(self.rect, rects)

    def rgb(self, rect: Rect) -> Frame:
        """Return a view of the newest frame, valid until the next `present`."""
        return self._front.rgb[rect.y : rect.y + rect.height, rect.x : rect.x + rect.width]

    def checksum(self) -> int:
        """Return the CRC-32 of the newest frame, row by row, in the order red, green, blue."""
        return zlib.crc32(np.ascontiguousarray(self._front.rgb).data)

    def codes(self, rect: Rect, pixel_format: PixelFormat) -> Codes:
        """Return the pixels of `rect` in a true-colour format: contiguous, read-only, shared by all clients."""
        key = rect, pixel_format
        codes = self._cache.get(key)
        if codes is None:
            codes = self._convert(rect, pixel_format)
            codes.flags.writeable = False
            if len(self._cache) >= _CACHE_SIZE:
                self._cache.clear()
            self._cache[key] = codes
        return codes

    def _convert(self, rect: Rect, pixel_format: PixelFormat) -> Codes:
        layout = word_layout(pixel_format)
        if layout is None:
            return convert(self.rgb(rect), pixel_format)
        return self._front.codes(rect, layout)
