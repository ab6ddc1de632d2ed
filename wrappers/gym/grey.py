"""Screens without colour."""

from __future__ import annotations

import numpy as np

from vnc.session import Frame
from wrappers.gym.pixel_wrapper import PixelWrapper

_RED, _GREEN, _BLUE = np.uint16(77), np.uint16(150), np.uint16(29)  # of 256: the luma of ITU-R BT.601
_HALF = np.uint16(128)


class Grey(PixelWrapper):
    """Turns every frame into one channel of brightness.

    Example:
        env = gymnasium.make_vec("universe/NeonDrive-v0", num_envs=4)
        env = Resize(Grey(env), width=84, height=84)  # in this order there is less to average
        observations, infos = env.reset()
        assert observations.shape == (4, 84, 84, 1)
    """

    def shape(self, shape: tuple[int, int, int]) -> tuple[int, int, int]:
        """Return the same with one channel."""
        height, width, _ = shape
        # Fresh memory for every frame would cost more than the arithmetic.
        self._grey, self._part = np.empty((2, height, width), np.uint16)
        return height, width, 1

    def pixels(self, frame: Frame) -> Frame:
        """Weigh the colours."""
        grey, part = self._grey, self._part
        np.multiply(frame[..., 0], _RED, out=grey)
        np.multiply(frame[..., 1], _GREEN, out=part)
        np.add(grey, part, out=grey)
        np.multiply(frame[..., 2], _BLUE, out=part)
        np.add(grey, part, out=grey)
        np.add(grey, _HALF, out=grey)
        np.right_shift(grey, 8, out=grey)
        return grey.astype(np.uint8)[..., None]
