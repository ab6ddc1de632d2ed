"""Smaller pictures of frames: a part of them, area averages, brightness instead of colours."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from math import gcd
from typing import Any

import numpy as np
from numpy.typing import NDArray

try:
    from vnc import _core
except ImportError:  # the same in numpy
    _core = None  # type: ignore[assignment]

_LUMA = (9798, 19235, 3735)
_LUMA_TOTAL = 1 << 15


@dataclass(frozen=True)
class Reduction:
    """Which smaller picture to make of frames of one shape: first a part, then another size, then the brightness.

    Each pixel of the picture is the mean of the pixels that it covers, weighted by the covered area. That is OpenCV's
    `INTER_AREA`, which averages only if neither side grows. The brightness is that of OpenCV's
    `COLOR_RGB2GRAY`: the luma of ITU-R BT.601, 0.299 red + 0.587 green + 0.114 blue. The exact value of both together
    is rounded once. Every driver makes the same pictures.

    Attributes:
        source: the shape of the frames: (height, width, channels).
        part: the rectangle that is kept: x, y, width, height.
        size: (width, height) of the picture.
        grey: whether the picture has one channel, the brightness of three.
    """

    source: tuple[int, int, int]
    part: tuple[int, int, int, int] = field(default=(0, 0, 0, 0))
    size: tuple[int, int] = (0, 0)
    grey: bool = False

    @classmethod
    def whole(cls, source: tuple[int, int, int]) -> Reduction:
        """Return the reduction that changes nothing."""
        height, width, _ = source
        return cls(source, (0, 0, width, height), (width, height))

    @property
    def is_whole(self) -> bool:
        """Whether the picture is the frame."""
        return self == Reduction.whole(self.source)

    @property
    def is_resized(self) -> bool:
        """Whether a pixel of the picture is not one of the frame."""
        return self.size != self.part[2:]

    @property
    def shape(self) -> tuple[int, int, int]:
        """The shape of the picture: (height, width, channels)."""
        width, height = self.size
        return height, width, 1 if self.grey else self.source[2]

    def crop(self, x: int, y: int, width: int, height: int) -> Reduction:
        """Return a reduction to a rectangle of this picture, which must be neither empty nor resized."""
        left, top, *_ = self.part
        return replace(self, part=(left + x, top + y, width, height), size=(width, height))

    def resize(self, width: int, height: int) -> Reduction:
        """Return a reduction to another size of this picture, which must not be resized already."""
        return replace(self, size=(width, height))

    def to_grey(self) -> Reduction:
        """Return a reduction to the brightness of this picture, which must have three channels."""
        return replace(self, grey=True)

    @cached_property
    def native(self) -> Any:
        """The same for the Rust core; None where that is not installed."""
        return None if _core is None else _core.Reduction(self.source, self.part, self.size, self.grey)

    def draw(self, frame: NDArray[np.uint8], out: NDArray[np.uint8]) -> None:
        """Draw the picture of `frame`, of shape `source`, into `out`, a contiguous array of shape `shape`."""
        if self.native is None:
            self._draw(frame, out)
        else:
            self.native.draw(np.ascontiguousarray(frame), out)

    def _draw(self, frame: NDArray[np.uint8], out: NDArray[np.uint8]) -> None:
        """Draw with numpy."""
        x, y, width, height = self.part
        part = frame[y : y + height, x : x + width]
        if not self.is_resized:
            out[...] = (_luma(part, np.uint32) + np.uint32(_LUMA_TOTAL // 2)) >> 15 if self.grey else part
            return
        sums = _average(part, self.size[1], np.uint32)
        sums = _average(sums.swapaxes(0, 1), self.size[0], np.uint64).swapaxes(0, 1)
        total = (width // gcd(width, self.size[0])) * (height // gcd(height, self.size[1]))
        if self.grey:
            sums, total = _luma(sums, np.uint64), total * _LUMA_TOTAL
        out[...] = (sums.astype(np.float64) * (1.0 / total) + 0.5).astype(np.uint8)


def _luma(sums: NDArray[Any], dtype: type[np.unsignedinteger[Any]]) -> NDArray[Any]:
    """Return (height, width, 1): the sums of three channels with the weights `_LUMA`."""
    red, green, blue = (
        np.multiply(sums[..., channel], dtype(_LUMA[channel]), dtype=dtype) for channel in range(3)
    )
    luma: NDArray[Any] = red + green + blue
    return luma[..., None]


def _average(lines: NDArray[Any], after: int, dtype: type[np.unsignedinteger[Any]]) -> NDArray[Any]:
    """Return (after, ...): for each new line the sum of the `lines` (before, ...) that it covers, with weights.

    A weight is the covered part of a line, in units that make all weights integers.
    """
    before = len(lines)
    divisor = gcd(before, after)
    total, unit = before // divisor, after // divisor
    start = np.arange(after).reshape(-1, *[1] * (lines.ndim - 1)) * total
    first = start // unit
    sums = np.zeros((after, *lines.shape[1:]), dtype)
    for number in range(-(-total // unit) + 1):
        line = first + number
        covered = np.minimum(start + total, (line + 1) * unit) - np.maximum(start, line * unit)
        weights = np.clip(covered, 0, None).astype(dtype)
        sums += np.multiply(lines.take(line.ravel(), axis=0, mode="clip"), weights, dtype=dtype)
    return sums
