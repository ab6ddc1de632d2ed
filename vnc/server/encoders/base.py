"""What an encoder is: a rect of the screen in, one or more encoded rects out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, Protocol

from vnc.pixel_format import PixelFormat
from vnc.server.damage import Rect
from vnc.server.screen import Screen


class EncodedRect(NamedTuple):
    """A rect and its encoded pixels, without the rect header."""

    rect: Rect
    payload: bytes | memoryview


class Encoder(Protocol):
    """One client's encoder of one encoding; its zlib streams last as long as the connection."""

    def encode(self, screen: Screen, rect: Rect, pixel_format: PixelFormat) -> Iterable[EncodedRect]:
        """Encode `rect` of the newest frame in a true-colour format."""
        ...
