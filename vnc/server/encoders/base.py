"""The interface of an encoder."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, Protocol

from vnc.pixels.pixel_format import PixelFormat
from vnc.server.framebuffer.damage import Rect
from vnc.server.framebuffer.screen import Screen


class EncodedRect(NamedTuple):
    """A rectangle and its encoded pixels, without the header."""

    rect: Rect
    payload: bytes | memoryview


class Encoder(Protocol):
    """The encoder of one client for one encoding; its zlib streams last as long as the connection."""

    def encode(self, screen: Screen, rect: Rect, pixel_format: PixelFormat) -> Iterable[EncodedRect]:
        """Return `rect` of the newest frame, encoded in a true-colour format, as one or more rectangles."""
        ...
