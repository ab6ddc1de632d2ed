"""The base of wrappers whose pixels come from the frames of several steps of one episode."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.vector import VectorEnv
from numpy.typing import NDArray

from universe_client.gym.infos import FRAME_NUMBER, RESETTING
from vnc.session import Frame
from wrappers.gym.gym_wrapper import RowNumbers, StepResult, chosen_rows
from wrappers.gym.pixel_wrapper import PixelWrapper


class HistoryWrapper(PixelWrapper):
    """Hands every step's frame to `begin`, if it is an episode's first, and else to `follow`.

    Example:
        class Motion(HistoryWrapper):
            def begin(self, row, frame):
                self._frames[row] = 0

            def follow(self, row, frame, new):
                self._frames[row] = 255 if new else 0
                return True
    """

    def __init__(self, env: VectorEnv[Any, Any, Any]) -> None:
        """Wrap `env`."""
        super().__init__(env)
        self._starts = np.ones(self.num_envs, np.bool_)  # whose next frame is an episode's first
        self._changes = np.zeros(self.num_envs, np.int64)

    def begin(self, row: int, frame: Frame) -> None:
        """Put what becomes of an episode's first frame into `self._frames[row]`."""
        raise NotImplementedError

    def follow(self, row: int, frame: Frame, new: bool) -> bool:
        """Put what becomes of the next step's frame there; return whether that is a change.

        Args:
            row: which.
            frame: (height, width, channels), lent.
            new: whether it is another one than that of the step before.
        """
        raise NotImplementedError

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Reset; the rows that do begin anew."""
        self._starts[chosen_rows(options, self.num_envs)] = True
        observations, infos = super().reset(seed=seed, options=options)
        self._end_step(np.arange(self.num_envs), infos)
        return observations, infos

    def results(self, rows: RowNumbers, result: StepResult) -> StepResult:
        """Add the frames."""
        observations, rewards, terminations, truncations, infos = super().results(rows, result)
        self._end_step(rows, infos)
        self._starts[rows] |= terminations | truncations
        return observations, rewards, terminations, truncations, infos

    def _end_step(self, rows: RowNumbers, infos: dict[str, Any]) -> None:
        self._starts[rows] &= infos.get(RESETTING, False)
        infos[FRAME_NUMBER] = self._changes[rows]
        infos[f"_{FRAME_NUMBER}"] = np.ones(len(rows), np.bool_)

    def take(self, rows: RowNumbers, frames: Frame, new: NDArray[np.bool_]) -> None:
        """Add a frame to each row, new or not: it is steps that are counted."""
        for row, frame, is_new in zip(rows, frames, new, strict=True):
            if self._starts[row]:
                self.begin(row, frame)
                self._changes[row] += 1
            else:
                self._changes[row] += self.follow(row, frame, bool(is_new))
