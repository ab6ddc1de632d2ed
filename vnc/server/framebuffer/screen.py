"""The framebuffer of a server: it finds the changed tiles of a new frame and converts pixels."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence

import numpy as np

from vnc.pixels.pixel_format import Codes, PixelFormat, convert, word_layout
from vnc.server.framebuffer.comparison import copy_frame
from vnc.server.framebuffer.damage import Grid, Rect, touched
from vnc.server.framebuffer.memory import sealed_memory
from vnc.server.framebuffer.ring import Layout, Ring, private_ring
from vnc.session import Frame

SHARED_BUFFERS = 8
"""So many that six readers can hold a frame each; buffers that are never used take no memory."""

_CACHE_SIZE = 16  # converted areas cached per frame; clients may request any number of areas


class Screen:
    """The newest frame, in one of the buffers of a `Ring`."""

    def __init__(self, width: int, height: int) -> None:
        self.rect = Rect(0, 0, width, height)
        self.ring = private_ring(width, height)
        self._cache: dict[tuple[Rect, PixelFormat], Codes] = {}

    def share(self) -> int:
        """Move the frame to memory that readers can map; return the memory's descriptor, for the caller to close.

        Raises:
            OSError: there is no such memory.
        """
        layout = Layout(self.rect.width, self.rect.height, SHARED_BUFFERS)
        descriptor, memory = sealed_memory(layout.size)
        ring = Ring(layout, memory)
        ring.newest.rows[...] = self.ring.newest.rows
        self.ring = ring
        return descriptor

    def present(self, frame: Frame) -> Grid | None:
        """Copy a frame; return the tiles that changed, None if none did.

        Raises:
            ValueError: the frame does not have the shape (height, width, 3) of the screen, or is not uint8.
        """
        shape = self.ring.newest.rgb.shape
        if frame.shape != shape or frame.dtype != np.uint8:
            raise ValueError(f"a frame of this screen is uint8 {shape}, not {frame.dtype} {frame.shape}")
        spare = self.ring.spare()
        grid = copy_frame(frame, self.ring.newest.rows, spare.rows)
        if grid is not None:
            self.ring.newest = spare
            self._cache.clear()
        return grid

    def paint(self, rects: Sequence[Rect], draw: Callable[[Frame], object]) -> Grid:
        """Have `draw` change the newest frame inside `rects`; return the tiles that they touch."""
        draw(self.ring.unheld().rgb)
        self._cache.clear()
        return touched(self.rect, rects)

    def rgb(self, rect: Rect) -> Frame:
        """Return a view of the newest frame, valid until the next `present`."""
        return self.ring.newest.rgb[rect.y : rect.y + rect.height, rect.x : rect.x + rect.width]

    def checksum(self) -> int:
        """Return the CRC-32 of the newest frame, row by row, in the order red, green, blue."""
        return zlib.crc32(np.ascontiguousarray(self.ring.newest.rgb).data)

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
        return self.ring.newest.codes(rect, layout)
