"""The space of a picture's coordinates, and that of the screen behind it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from universe_client.hands.errors import InvalidAction
from universe_client.hands.outcome import Region
from vnc.server.framebuffer.damage import Rect

MOST_PIXELS = 8192
"""The longest side of a picture."""


@dataclass(frozen=True, slots=True)
class Space:
    """A picture of the whole screen.

    Attributes:
        size: (width, height) of the picture.
        screen: (width, height) of the screen.
    """

    size: tuple[int, int]
    screen: tuple[int, int]

    @classmethod
    def within(cls, screen: tuple[int, int], limit: tuple[int, int] | None) -> Space:
        """Return the largest picture that is no larger than the screen and `limit`, with the screen's proportions."""
        scale = 1.0 if limit is None else min(1.0, limit[0] / screen[0], limit[1] / screen[1])
        return cls.scaled(screen, scale)

    @classmethod
    def scaled(cls, screen: tuple[int, int], scale: float) -> Space:
        """Return the picture with `scale` pixels per pixel of the screen.

        Raises:
            InvalidAction: the picture would be empty or too large.
        """
        return cls(scaled(screen, scale), screen)

    @property
    def scale(self) -> float:
        """The number of the picture's pixels per pixel of the screen."""
        return self.size[0] / self.screen[0]

    @property
    def whole(self) -> Region:
        """The picture as a region."""
        return Region(0, 0, *self.size)

    def to_screen(self, x: Any, y: Any) -> tuple[int, int]:
        """Return the pixel of the screen behind the middle of a pixel of the picture.

        Raises:
            InvalidAction: it is outside the picture, or not a pair of integers.
        """
        self._check("x", x, self.size[0])
        self._check("y", y, self.size[1])
        width, height = self.screen
        return (2 * x + 1) * width // (2 * self.size[0]), (2 * y + 1) * height // (2 * self.size[1])

    def _check(self, name: str, value: Any, size: int) -> None:
        if isinstance(value, bool) or not isinstance(value, int):
            raise InvalidAction(f"{name}={value!r} is not an integer number of pixels")
        if not 0 <= value < size:
            width, height = self.size
            raise InvalidAction(
                f"{name}={value} is outside the picture, which is {width}x{height}: 0 <= {name} < {size}"
            )

    def from_screen(self, x: int, y: int) -> tuple[int, int]:
        """Return the pixel of the picture that shows a pixel of the screen."""
        width, height = self.screen
        return (2 * x + 1) * self.size[0] // (2 * width), (2 * y + 1) * self.size[1] // (2 * height)

    def region(self, rect: Rect) -> Region:
        """Return the region of the picture that shows a rectangle of the screen, rounded outwards."""
        x, width = _outwards(rect.x, rect.width, self.size[0], self.screen[0])
        y, height = _outwards(rect.y, rect.height, self.size[1], self.screen[1])
        return Region(x, y, width, height)

    def rect(self, region: tuple[int, int, int, int]) -> Rect:
        """Return the rectangle of the screen that a region of the picture shows, rounded outwards.

        Raises:
            InvalidAction: the region is empty or not inside the picture.
        """
        x, y, width, height = self._checked(region)
        left, across = _outwards(x, width, self.screen[0], self.size[0])
        top, down = _outwards(y, height, self.screen[1], self.size[1])
        return Rect(left, top, across, down)

    def _checked(self, region: tuple[int, int, int, int]) -> tuple[int, int, int, int]:
        valid = len(region) == 4 and all(isinstance(each, int) for each in region)
        if valid:
            x, y, width, height = region
            valid = x >= 0 and y >= 0 and width > 0 and height > 0
            valid = valid and x + width <= self.size[0] and y + height <= self.size[1]
        if not valid:
            raise InvalidAction(
                f"region={tuple(region)} is not (x, y, width, height) inside the picture, which is "
                f"{self.size[0]}x{self.size[1]}"
            )
        return region


def scaled(size: tuple[int, int], scale: float) -> tuple[int, int]:
    """Return a size times `scale`.

    Raises:
        InvalidAction: the result is empty or too large.
    """
    if not 0 < scale <= MOST_PIXELS:
        raise InvalidAction(f"scale={scale!r} is not a positive number")
    width, height = round(size[0] * scale), round(size[1] * scale)
    if not (0 < width <= MOST_PIXELS and 0 < height <= MOST_PIXELS):
        raise InvalidAction(
            f"scale={scale!r} makes a picture of {width}x{height}: 1 to {MOST_PIXELS} pixels a side"
        )
    return width, height


def _outwards(start: int, length: int, to: int, of: int) -> tuple[int, int]:
    """Scale a range by to/of, rounded outwards; return its start and length."""
    first, end = start * to // of, -(-(start + length) * to // of)
    return first, end - first
