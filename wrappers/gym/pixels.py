"""Wrappers that change each frame separately: cut out a part, drop the colour, scale down."""

from __future__ import annotations

from typing import Any

from gymnasium.vector import VectorEnv

from universe_client.errors import ConfigError
from vnc.pixels.reduction import Reduction
from wrappers.gym.reducing import ReducingWrapper


class Crop(ReducingWrapper):
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

    def change(self, reduction: Reduction) -> Reduction | None:
        """See `ReducingWrapper.change`.

        Raises:
            ConfigError: the rectangle is empty or reaches beyond the frame.
        """
        height, width, _ = reduction.shape
        fits = (
            0 <= self._x < self._x + self._width <= width and 0 <= self._y < self._y + self._height <= height
        )
        if not fits:
            place = f"x={self._x}, y={self._y}, width={self._width}, height={self._height}"
            raise ConfigError(f"the rectangle {place} is empty or not within frames of {width}x{height}")
        if reduction.is_resized:
            return None
        return reduction.crop(self._x, self._y, self._width, self._height)


class Grey(ReducingWrapper):
    """Turns every frame into one channel of brightness: uint8 (n, height, width, 1).

    The brightness is the luma of ITU-R BT.601: 0.299 red + 0.587 green + 0.114 blue.

    Example:
        env = gymnasium.make_vec("universe/NeonDrive-v0", num_envs=4)
        env = Resize(Grey(env), width=84, height=84)
        observations, infos = env.reset()
        assert observations.shape == (4, 84, 84, 1)
    """

    def change(self, reduction: Reduction) -> Reduction:
        """See `ReducingWrapper.change`.

        Raises:
            ConfigError: the frame has not three channels.
        """
        channels = reduction.shape[2]
        if channels != 3:
            raise ConfigError(f"the brightness is that of red, green and blue, not of {channels} channels")
        return reduction.to_grey()


class Resize(ReducingWrapper):
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

    def change(self, reduction: Reduction) -> Reduction | None:
        """See `ReducingWrapper.change`."""
        return None if reduction.is_resized else reduction.resize(self._width, self._height)
