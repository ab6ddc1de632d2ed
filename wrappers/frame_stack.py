"""The last few screens at once, so that one observation shows motion."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.vector import VectorEnv
from numpy.typing import NDArray

from universe_client.errors import ConfigError
from universe_client.gym_infos import FRAME_NUMBER, RESETTING
from vnc.session import Frame
from wrappers.gym_wrapper import RowNumbers, StepResult, chosen_rows
from wrappers.pixel_wrapper import PixelWrapper


class FrameStack(PixelWrapper):
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
        self._starts = np.ones(self.num_envs, np.bool_)  # whose next frame is an episode's first
        self._moves = np.zeros(self.num_envs, np.int64)

    def shape(self, shape: tuple[int, int, int]) -> tuple[int, int, int]:
        """Return `size` times the channels."""
        return shape[0], shape[1], shape[2] * self._size

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Reset; the rows that do begin anew."""
        self._starts[chosen_rows(options, self.num_envs)] = True
        observations, infos = super().reset(seed=seed, options=options)
        self._end_step(np.arange(self.num_envs), infos)
        return observations, infos

    def results(self, rows: RowNumbers, result: StepResult) -> StepResult:
        """Add the new frames."""
        observations, rewards, terminations, truncations, infos = super().results(rows, result)
        self._end_step(rows, infos)
        self._starts[rows] |= terminations | truncations
        return observations, rewards, terminations, truncations, infos

    def _end_step(self, rows: RowNumbers, infos: dict[str, Any]) -> None:
        self._starts[rows] &= infos.get(RESETTING, False)
        infos[FRAME_NUMBER] = self._moves[rows]
        infos[f"_{FRAME_NUMBER}"] = np.ones(len(rows), np.bool_)

    def take(self, rows: RowNumbers, frames: Frame, new: NDArray[np.bool_]) -> None:
        """Add a frame to each row's stack, new or not: it is the steps that are stacked."""
        self._moves[rows] += 1
        for row, frame in zip(rows, frames, strict=True):
            if self._starts[row]:
                self._frames[row] = np.tile(frame, self._size)
            else:
                self._push(self._frames[row], frame)

    def _push(self, stack: Frame, frame: Frame) -> None:
        flat = stack.reshape(-1)  # where all channels of all pixels move up in one piece
        flat[: -self._channels] = flat[self._channels :]
        stack[..., -self._channels :] = frame
