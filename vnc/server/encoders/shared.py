"""Shared frames (docs/shared-frames.md): the number of the buffer that contains the pixels."""

from __future__ import annotations

from collections.abc import Iterable

from vnc.pixels.pixel_format import PixelFormat
from vnc.server.encoders.base import EncodedRect
from vnc.server.framebuffer.damage import Rect
from vnc.server.framebuffer.screen import Screen


class SharedEncoder:
    """The encoder for clients that read the buffers, in the buffers' format whatever theirs is."""

    def encode(self, screen: Screen, rect: Rect, pixel_format: PixelFormat) -> Iterable[EncodedRect]:
        """Return one encoded rectangle: 4 number of the buffer."""
        return (EncodedRect(rect, screen.ring.newest.number.to_bytes(4, "big")),)
