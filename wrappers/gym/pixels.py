"""Wrappers that change each frame separately: cut out a part, drop the colour, scale down."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.vector import VectorEnv
from numpy.typing import NDArray

from universe_client.errors import ConfigError
from vnc.session import Frame
from wrappers.gym.pixel_wrapper import PixelWrapper

_RED, _GREEN, _BLUE = (
    np.uint16(77),
    np.uint16(150),
    np.uint16(29),
)  # 256 times the luma weights of ITU-R BT.601
_HALF = np.uint16(128)
_Share = tuple[NDArray[np.intp], NDArray[np.float32]]


class Crop(PixelWrapper):
    """Keeps one rectangle of every frame: uint8 (n, height, width, channels).

    Example:
        env = gymnasium.make_vec("universe/NeonDrive-v0", num_envs=4)
        env = Crop(env, x=0, y=40, width=320, height=200)
        observations, infos = env.reset()
        assert observations.shape == (4, 200, 320, 3)
    """

    def __init__(self, env: VectorEnv[Any, Any, Any], x: int, y: int, width: int, height: int) -> None:
        """Wrap `env`.

        Args:
            env: a vector environment whose observations are frames.
            x: column of the rectangle's left edge, in pixels.
            y: row of its upper edge, in pixels.
            width: its width, in pixels.
            height: its height, in pixels.

        Raises:
            ConfigError: the rectangle is empty or reaches beyond the frame, or the observations are not frames.
        """
        self._x, self._y, self._width, self._height = x, y, width, height
        super().__init__(env)

    def shape(self, shape: tuple[int, int, int]) -> tuple[int, int, int]:
        """Return the shape of the rectangle.

        Raises:
            ConfigError: the rectangle is empty or reaches beyond a frame of `shape`.
        """
        height, width, channels = shape
        fits = (
            0 <= self._x < self._x + self._width <= width and 0 <= self._y < self._y + self._height <= height
        )
        if not fits:
            place = f"x={self._x}, y={self._y}, width={self._width}, height={self._height}"
            raise ConfigError(f"the rectangle {place} is empty or not within frames of {width}x{height}")
        return self._height, self._width, channels

    def pixels(self, frame: Frame) -> Frame:
        """Return a view of the rectangle."""
        return frame[self._y : self._y + self._height, self._x : self._x + self._width]


class Grey(PixelWrapper):
    """Turns every frame into one channel of brightness: uint8 (n, height, width, 1).

    The brightness is the luma of ITU-R BT.601: 0.299 red + 0.587 green + 0.114 blue.

    Example:
        env = gymnasium.make_vec("universe/NeonDrive-v0", num_envs=4)
        env = Resize(Grey(env), width=84, height=84)  # this order is faster: Resize averages one channel, not three
        observations, infos = env.reset()
        assert observations.shape == (4, 84, 84, 1)
    """

    def shape(self, shape: tuple[int, int, int]) -> tuple[int, int, int]:
        """Return `shape` with one channel."""
        height, width, _ = shape
        # Allocating memory for every frame would cost more than the arithmetic.
        self._grey, self._part = np.empty((2, height, width), np.uint16)
        return height, width, 1

    def pixels(self, frame: Frame) -> Frame:
        """Return the brightness of a frame (height, width, 3) as uint8 (height, width, 1)."""
        grey, part = self._grey, self._part
        np.multiply(frame[..., 0], _RED, out=grey)
        np.multiply(frame[..., 1], _GREEN, out=part)
        np.add(grey, part, out=grey)
        np.multiply(frame[..., 2], _BLUE, out=part)
        np.add(grey, part, out=grey)
        np.add(grey, _HALF, out=grey)
        np.right_shift(grey, 8, out=grey)
        return grey.astype(np.uint8)[..., None]


class Resize(PixelWrapper):
    """Scales every frame by area averaging: uint8 (n, height, width, channels).

    Each new pixel is the mean of the old pixels that it covers, weighted by the covered area, like OpenCV's
    `INTER_AREA`.

    Example:
        env = gymnasium.make_vec("universe/NeonDrive-v0", num_envs=4)
        env = Resize(env, width=84, height=84)
        observations, infos = env.reset()
        assert observations.shape == (4, 84, 84, 3)
    """

    def __init__(self, env: VectorEnv[Any, Any, Any], width: int, height: int) -> None:
        """Wrap `env`.

        Args:
            env: a vector environment whose observations are frames.
            width: the new width, in pixels.
            height: the new height, in pixels.

        Raises:
            ConfigError: the width or height is not positive, or the observations are not frames.
        """
        if width < 1 or height < 1:
            raise ConfigError(f"the size {width}x{height} is not positive")
        self._width, self._height = width, height
        super().__init__(env)

    def shape(self, shape: tuple[int, int, int]) -> tuple[int, int, int]:
        """Return (new height, new width, channels)."""
        height, width, channels = shape
        self._down = _Average(height, self._height, width * channels, np.uint8)
        self._across = _Average(width, self._width, self._height * channels, np.float32)
        self._transposed = np.empty((width, self._height, channels), np.float32)
        return self._height, self._width, channels

    def pixels(self, frame: Frame) -> Frame:
        """Return the scaled frame.

        Rows are averaged first, then columns. The picture is transposed in between, so that both passes add lines whose
        pixels are adjacent in memory.
        """
        height, width, channels = frame.shape
        lines = self._down(frame.reshape(height, width * channels))
        self._transposed[...] = lines.reshape(self._height, width, channels).swapaxes(0, 1)
        squeezed = self._across(self._transposed.reshape(width, self._height * channels))
        result = np.rint(squeezed).astype(np.uint8).reshape(self._width, self._height, channels)
        return result.swapaxes(0, 1)


class _Average:
    """Averages `before` lines to `after` lines, each the weighted mean of the lines that it covers.

    It is not a matrix product, because BLAS would use the cores that the environments need. It reuses its memory,
    because allocating memory for every frame would cost more than the arithmetic.
    """

    def __init__(self, before: int, after: int, length: int, dtype: type) -> None:
        self._shares = _shares(before, after)
        self._old: NDArray[Any] = np.empty((after, length), dtype)
        self._part = np.empty((after, length), np.float32)
        self._total = np.empty((after, length), np.float32)

    def __call__(self, lines: NDArray[Any]) -> NDArray[np.float32]:
        """Return the averages (after, length) of `lines` (before, length); the next call overwrites them."""
        self._total.fill(0)
        for old, share in self._shares:
            lines.take(old, axis=0, out=self._old, mode="clip")  # other modes write through a buffer
            np.multiply(self._old, share, out=self._part)
            np.add(self._total, self._part, out=self._total)
        return self._total


def _shares(before: int, after: int) -> list[_Share]:
    """Return, for the first, second, ... old line that each new line covers: its number and its share."""
    edges = np.linspace(0, before, after + 1)
    first = np.floor(edges[:-1]).astype(np.intp)
    count = int((np.ceil(edges[1:]) - first).max())
    return [_share(first + number, edges, before) for number in range(count)]


def _share(old: NDArray[np.intp], edges: NDArray[np.float64], before: int) -> _Share:
    covered = np.minimum(edges[1:], old + 1) - np.maximum(edges[:-1], old)
    share = np.clip(covered, 0, None) / np.diff(edges)
    return np.minimum(old, before - 1), share.astype(np.float32)[:, None]
