"""Screens without flicker."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.vector import VectorEnv

from vnc.session import Frame
from wrappers.gym.history_wrapper import HistoryWrapper


class MaxFrames(HistoryWrapper):
    """Shows of every pixel the brighter one of the last two steps: what is drawn on every other frame is always there.

    Its place is inside of `FrameSkip`, where steps are as many as frames. In lock-step they are the same. In real time
    with `step_rate=60`, at 60 frames a second, it is the last two that were seen: one may be missed, or seen twice.

    Example:
        env = gymnasium.make_vec("universe/Remote-v0", env_id="gym-core.ALE/Pong-v5", num_envs=8, step_rate=60)
        env = FrameSkip(MaxFrames(env), skip=4)
        observations, infos = env.reset()
        assert observations.shape == (8, 210, 160, 3)
    """

    def __init__(self, env: VectorEnv[Any, Any, Any]) -> None:
        """Wrap `env`."""
        super().__init__(env)
        self._last = self._frames.copy()
        self._blended = np.zeros(self.num_envs, np.bool_)  # whose two frames differed

    def begin(self, row: int, frame: Frame) -> None:
        """Show it as it is."""
        self._frames[row] = self._last[row] = frame
        self._blended[row] = False

    def follow(self, row: int, frame: Frame, new: bool) -> bool:
        """Blend it with the one before; two that are the same are as one."""
        if not new and not self._blended[row]:
            return False
        np.maximum(self._last[row], frame, out=self._frames[row])
        self._last[row] = frame
        self._blended[row] = new
        return True
