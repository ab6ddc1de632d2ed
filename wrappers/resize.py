"""Smaller screens."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.vector import VectorEnv
from numpy.typing import NDArray

from universe_client.errors import ConfigError
from vnc.session import Frame
from wrappers.pixel_wrapper import PixelWrapper

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
        self._down, self._across = _taps(height, self._height), _taps(width, self._width)
        return self._height, self._width, channels

    def pixels(self, frame: Frame) -> Frame:
        """Average: first over rows, whose pixels lie side by side, then, the picture being turned, over columns."""
        height, width, channels = frame.shape
        lines = _average(frame.reshape(height, width * channels), self._down)
        turned = lines.reshape(self._height, width, channels).swapaxes(0, 1)
        squeezed = _average(turned.reshape(width, self._height * channels), self._across)
        result = np.rint(squeezed).astype(np.uint8).reshape(self._width, self._height, channels)
        return result.swapaxes(0, 1)


def _taps(before: int, after: int) -> list[_Tap]:
    """Return, for the first, second, ... old pixel that each new one touches, which that is and its share.

    Not a matrix product: BLAS would take the threads that the environments need.
    """
    edges = np.linspace(0, before, after + 1)
    first = np.floor(edges[:-1]).astype(np.intp)
    count = int((np.ceil(edges[1:]) - first).max())
    return [_tap(first + number, edges, before) for number in range(count)]


def _tap(old: NDArray[np.intp], edges: NDArray[np.float64], before: int) -> _Tap:
    covered = np.minimum(edges[1:], old + 1) - np.maximum(edges[:-1], old)
    share = np.clip(covered, 0, None) / np.diff(edges)
    return np.minimum(old, before - 1), share.astype(np.float32)[:, None]


def _average(lines: NDArray[Any], taps: list[_Tap]) -> NDArray[np.float32]:
    """Average along the first of two axes."""
    total = np.zeros((len(taps[0][0]), lines.shape[1]), np.float32)
    for old, share in taps:
        total += lines.take(old, axis=0) * share
    return total
