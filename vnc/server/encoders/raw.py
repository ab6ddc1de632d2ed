"""Raw encoding (RFC 6143 section 7.7.1)."""

from __future__ import annotations

from collections.abc import Iterable

from vnc.pixel_format import PixelFormat
from vnc.server.damage import Rect
from vnc.server.encoders.base import EncodedRect
from vnc.server.screen import Screen


class RawEncoder:
    """Pixels as they are; the payload is the screen's converted window itself."""

    def encode(self, screen: Screen, rect: Rect, pixel_format: PixelFormat) -> Iterable[EncodedRect]:
        """Return the one encoded rect."""
        return (EncodedRect(rect, screen.codes(rect, pixel_format).data),)
