"""The framebuffer of a server: it finds the changed tiles of a new frame and converts pixels."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence

import numpy as np

from vnc.pixel_format import Codes, PixelFormat, convert, word_layout
from vnc.server.comparison import copy_frame
from vnc.server.damage import Grid, Rect, touched
from vnc.server.ring import private_ring
from vnc.session import Frame

_CACHE_SIZE = 16  # converted areas cached per frame; clients may request any number of areas


class Screen:
    """The newest frame, in one of the buffers of a `Ring`."""

    def __init__(self, width: int, height: int) -> None:
        self.rect = Rect(0, 0, width, height)
        self._ring = private_ring(width, height)
        self._cache: dict[tuple[Rect, PixelFormat], Codes] = {}

    def present(self, frame: Frame) -> Grid | None:
        """Copy a frame; return the tiles that changed, None if none did.

        Raises:
            ValueError: the frame does not have the shape (height, width, 3) of the screen, or is not uint8.
        """
        shape = self._ring.newest.rgb.shape
        if frame.shape != shape or frame.dtype != np.uint8:
            raise ValueError(f"a frame of this screen is uint8 {shape}, not {frame.dtype} {frame.shape}")
        spare = self._ring.spare()
        grid = copy_frame(frame, self._ring.newest.rows, spare.rows)
        if grid is not None:
            self._ring.newest = spare
            self._cache.clear()
        return grid

    def paint(self, rects: Sequence[Rect], draw: Callable[[Frame], object]) -> Grid:
        """Have `draw` change the newest frame inside `rects`; return the tiles that they touch."""
        draw(self._ring.unheld().rgb)
        self._cache.clear()
        return touched(self.rect, rects)

    def rgb(self, rect: Rect) -> Frame:
        """Return a view of the newest frame, valid until the next `present`."""
        return self._ring.newest.rgb[rect.y : rect.y + rect.height, rect.x : rect.x + rect.width]

    def checksum(self) -> int:
        """Return the CRC-32 of the newest frame, row by row, in the order red, green, blue."""
        return zlib.crc32(np.ascontiguousarray(self._ring.newest.rgb).data)

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
        return self._ring.newest.codes(rect, layout)
