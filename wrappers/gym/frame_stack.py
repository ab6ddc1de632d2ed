"""The last few screens at once, so that one observation shows motion."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.vector import VectorEnv

from universe_client.errors import ConfigError
from vnc.session import Frame
from wrappers.gym.history_wrapper import HistoryWrapper


class FrameStack(HistoryWrapper):
    """Joins the frames of the last `size` steps along the channels, the newest last.

    An episode begins with `size` times its first frame: no frame of the episode before is ever among them.

    Example:
        env = gymnasium.make_vec("universe/NeonDrive-v0", num_envs=4, step_rate=15)
        env = FrameStack(Resize(Grey(env), width=84, height=84), size=4)
        observations, infos = env.reset()
        assert observations.shape == (4, 84, 84, 4)
    """

    def __init__(self, env: VectorEnv[Any, Any, Any], size: int = 4) -> None:
        """Wrap `env`; `size` is in frames."""
        if size < 1:
            raise ConfigError(f"size={size} is not positive")
        self._size = size
        super().__init__(env)
        self._channels = self._frames.shape[3] // size

    def shape(self, shape: tuple[int, int, int]) -> tuple[int, int, int]:
        """Return `size` times the channels."""
        return shape[0], shape[1], shape[2] * self._size

    def begin(self, row: int, frame: Frame) -> None:
        """Fill the stack."""
        self._frames[row] = np.tile(frame, self._size)

    def follow(self, row: int, frame: Frame, new: bool) -> bool:
        """Push onto the stack."""
        stack = self._frames[row]
        flat = stack.reshape(-1)  # where all channels of all pixels move up in one piece
        flat[: -self._channels] = flat[self._channels :]
        stack[..., -self._channels :] = frame
        return True
