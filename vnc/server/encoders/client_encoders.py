"""The encoders of one client, which keep its compression streams."""

from __future__ import annotations

import struct
from collections.abc import Sequence

from vnc.pixels.pixel_format import RGBX
from vnc.server.encoders import ENCODERS, RAW, Encoder
from vnc.server.framebuffer.damage import Rect
from vnc.server.framebuffer.screen import Screen

_RECT = struct.Struct(">HHHHi")  # 2 x + 2 y + 2 width + 2 height + 4 encoding


class ClientEncoders:
    """Encodes areas of the screen as a client wants them.

    Attributes:
        encoding: the encoding of the next update.
        pixel_format: its pixel format.
    """

    def __init__(self) -> None:
        self.encoding = RAW
        self.pixel_format = RGBX
        self._encoders: dict[int, Encoder] = {}

    def encode(self, screen: Screen, rects: Sequence[Rect]) -> tuple[int, list[bytes | memoryview]]:
        """Return how many rectangles an update of these areas has, and the parts of the rectangles, not copied."""
        encoder = self._encoders.get(self.encoding)
        if encoder is None:
            encoder = self._encoders[self.encoding] = ENCODERS[self.encoding]()
        parts: list[bytes | memoryview] = []
        for rect in rects:
            for area, payload in encoder.encode(screen, rect, self.pixel_format):
                parts += (_RECT.pack(*area, self.encoding), payload)
        return len(parts) // 2, parts
