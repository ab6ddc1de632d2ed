"""Raw encoding (RFC 6143 section 7.7.1)."""

from __future__ import annotations

from collections.abc import Iterable

from vnc.pixels.pixel_format import PixelFormat
from vnc.server.encoders.base import EncodedRect
from vnc.server.framebuffer.damage import Rect
from vnc.server.framebuffer.screen import Screen


class RawEncoder:
    """The Raw encoder; its payload is the screen's cached conversion, without a copy."""

    def encode(self, screen: Screen, rect: Rect, pixel_format: PixelFormat) -> Iterable[EncodedRect]:
        """Return one encoded rectangle."""
        return (EncodedRect(rect, screen.codes(rect, pixel_format).data),)
