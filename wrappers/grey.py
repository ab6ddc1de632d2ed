"""Screens without colour."""

from __future__ import annotations

import numpy as np

from vnc.session import Frame
from wrappers.pixel_wrapper import PixelWrapper

_RED, _GREEN, _BLUE = 77, 150, 29  # of 256: the luma of ITU-R BT.601


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
        return shape[0], shape[1], 1

    def pixels(self, frame: Frame) -> Frame:
        """Weigh the colours."""
        grey = _RED * frame[..., 0].astype(np.uint16)
        grey += _GREEN * frame[..., 1].astype(np.uint16)
        grey += _BLUE * frame[..., 2].astype(np.uint16)
        result: Frame = ((grey + 128) >> 8).astype(np.uint8)[..., None]
        return result
