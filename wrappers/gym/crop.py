"""A part of each screen."""

from __future__ import annotations

from typing import Any

from gymnasium.vector import VectorEnv

from universe_client.errors import ConfigError
from vnc.session import Frame
from wrappers.gym.pixel_wrapper import PixelWrapper


class Crop(PixelWrapper):
    """Keeps one rectangle of every frame.

    Example:
        env = gymnasium.make_vec("universe/NeonDrive-v0", num_envs=4)
        env = Crop(env, x=0, y=40, width=320, height=200)
        observations, infos = env.reset()
        assert observations.shape == (4, 200, 320, 3)
    """

    def __init__(self, env: VectorEnv[Any, Any, Any], x: int, y: int, width: int, height: int) -> None:
        """Wrap `env`; the rectangle is in pixels, (x, y) its top left corner."""
        self._x, self._y, self._width, self._height = x, y, width, height
        super().__init__(env)

    def shape(self, shape: tuple[int, int, int]) -> tuple[int, int, int]:
        """Return the rectangle's shape.

        Raises:
            ConfigError: the rectangle is not on the screen.
        """
        height, width, channels = shape
        fits = (
            0 <= self._x < self._x + self._width <= width and 0 <= self._y < self._y + self._height <= height
        )
        if not fits:
            place = f"({self._x}, {self._y}, {self._width}x{self._height})"
            raise ConfigError(f"the rectangle {place} is not on a screen of {width}x{height}")
        return self._height, self._width, channels

    def pixels(self, frame: Frame) -> Frame:
        """Cut it out."""
        return frame[self._y : self._y + self._height, self._x : self._x + self._width]
