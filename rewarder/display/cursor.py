"""The mouse pointer, drawn as Xvnc draws it for clients that do not draw it themselves."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from vnc.server.framebuffer.damage import Rect
from vnc.session import Frame


def _nothing() -> NDArray[np.uint8]:
    return np.zeros((0, 0, 4), np.uint8)


@dataclass(frozen=True, slots=True, eq=False)
class Cursor:
    """The shape of the pointer.

    Attributes:
        hot_x, hot_y: the pixel of the shape that is at the pointer's position.
        pixels: shape (height, width, 4): red, green and blue, multiplied by alpha, and alpha; no pixels if none is
            visible.
    """

    hot_x: int = 0
    hot_y: int = 0
    pixels: NDArray[np.uint8] = field(default_factory=_nothing)

    def area(self, pointer: tuple[int, int], screen: Rect) -> Rect | None:
        """Return the part of the screen that the shape covers; None if there is none."""
        height, width, _ = self.pixels.shape
        return Rect(pointer[0] - self.hot_x, pointer[1] - self.hot_y, width, height).intersection(screen)

    def draw(self, frame: Frame, pointer: tuple[int, int], area: Rect) -> None:
        """Draw the shape in its `area`, over the pixels of a frame."""
        x, y = area.x - pointer[0] + self.hot_x, area.y - pointer[1] + self.hot_y
        shape = self.pixels[y : y + area.height, x : x + area.width].astype(np.uint16)
        below = frame[area.y : area.y + area.height, area.x : area.x + area.width]
        below[...] = shape[..., :3] + below * (255 - shape[..., 3:]) // 255
