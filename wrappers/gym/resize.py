"""Smaller screens."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.vector import VectorEnv
from numpy.typing import NDArray

from universe_client.errors import ConfigError
from vnc.session import Frame
from wrappers.gym.pixel_wrapper import PixelWrapper

_Tap = tuple[NDArray[np.intp], NDArray[np.float32]]


class Resize(PixelWrapper):
    """Scales every frame by area averaging: a new pixel is the mean of the area that it covers, fractions included.

    Example:
        env = gymnasium.make_vec("universe/NeonDrive-v0", num_envs=4)
        env = Resize(env, width=84, height=84)
        observations, infos = env.reset()
        assert observations.shape == (4, 84, 84, 3)
    """

    def __init__(self, env: VectorEnv[Any, Any, Any], width: int, height: int) -> None:
        """Wrap `env`; frames become `width` x `height`."""
        if width < 1 or height < 1:
            raise ConfigError(f"a size of {width}x{height} is not positive")
        self._width, self._height = width, height
        super().__init__(env)

    def shape(self, shape: tuple[int, int, int]) -> tuple[int, int, int]:
        """Return the new shape."""
        height, width, channels = shape
        self._down = _Average(height, self._height, width * channels, np.uint8)
        self._across = _Average(width, self._width, self._height * channels, np.float32)
        self._turned = np.empty((width, self._height, channels), np.float32)
        return self._height, self._width, channels

    def pixels(self, frame: Frame) -> Frame:
        """Average: first over rows, whose pixels lie side by side, then, the picture being turned, over columns."""
        height, width, channels = frame.shape
        lines = self._down(frame.reshape(height, width * channels))
        self._turned[...] = lines.reshape(self._height, width, channels).swapaxes(0, 1)
        squeezed = self._across(self._turned.reshape(width, self._height * channels))
        result = np.rint(squeezed).astype(np.uint8).reshape(self._width, self._height, channels)
        return result.swapaxes(0, 1)


class _Average:
    """Averages `before` lines to `after` lines, each the mean of what it covers, fractions included.

    Not a matrix product: BLAS would take the threads that the environments need. It works in memory of its own: fresh
    memory for every frame would cost more than the arithmetic.
    """

    def __init__(self, before: int, after: int, length: int, dtype: type) -> None:
        self._taps = _taps(before, after)
        self._old: NDArray[Any] = np.empty((after, length), dtype)
        self._part = np.empty((after, length), np.float32)
        self._total = np.empty((after, length), np.float32)

    def __call__(self, lines: NDArray[Any]) -> NDArray[np.float32]:
        """Return the averages of `lines` (before, length), (after, length), until the next call."""
        self._total.fill(0)
        for old, share in self._taps:
            lines.take(old, axis=0, out=self._old, mode="clip")  # what other modes take goes through a buffer
            np.multiply(self._old, share, out=self._part)
            np.add(self._total, self._part, out=self._total)
        return self._total


def _taps(before: int, after: int) -> list[_Tap]:
    """Return, for the first, second, ... old line that each new one covers, which that is and its share."""
    edges = np.linspace(0, before, after + 1)
    first = np.floor(edges[:-1]).astype(np.intp)
    count = int((np.ceil(edges[1:]) - first).max())
    return [_tap(first + number, edges, before) for number in range(count)]


def _tap(old: NDArray[np.intp], edges: NDArray[np.float64], before: int) -> _Tap:
    covered = np.minimum(edges[1:], old + 1) - np.maximum(edges[:-1], old)
    share = np.clip(covered, 0, None) / np.diff(edges)
    return np.minimum(old, before - 1), share.astype(np.float32)[:, None]
