"""The last few screens at once, so that one observation shows motion."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.vector import VectorEnv
from numpy.typing import NDArray

from universe_client.errors import ConfigError
from vnc.session import Frame
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
        height, width, channels = self._stacked
        self._channels = channels // size
        self._stack = np.zeros((self.num_envs, height, width, channels), np.uint8)
        self._starts = np.ones(self.num_envs, np.bool_)  # whose next frame is an episode's first
        self._moved = self._starts.copy()

    def shape(self, shape: tuple[int, int, int]) -> tuple[int, int, int]:
        """Return `size` times the channels."""
        self._stacked = shape[0], shape[1], shape[2] * self._size
        return self._stacked

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Reset; the rows that do begin anew, the others show what they showed."""
        observations, infos = self.env.reset(seed=seed, options=options)
        mask = (options or {}).get("reset_mask")
        chosen = np.ones(self.num_envs, np.bool_) if mask is None else mask
        self._starts |= chosen
        self._moved = chosen
        return self._stacked_observations(observations, infos), infos

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Step, and add the new frames."""
        observations, rewards, terminations, truncations, infos = self.env.step(actions)
        self._moved = np.ones(self.num_envs, np.bool_)
        stacked = self._stacked_observations(observations, infos)
        self._starts |= terminations | truncations
        return stacked, rewards, terminations, truncations, infos

    def _stacked_observations(self, observations: Any, infos: dict[str, Any]) -> Any:
        stacked = self.observations(observations)
        self._starts &= infos.get("resetting", np.zeros(self.num_envs, np.bool_))
        return stacked

    def pixels(self, frames: Frame) -> Frame:
        """Add frames to the stacks of the rows that have moved."""
        self._push(frames, np.flatnonzero(self._moved & ~self._starts))
        for row in np.flatnonzero(self._starts):
            self._stack[row] = np.tile(frames[row], self._size)
        return self._stack.copy()

    def _push(self, frames: Frame, rows: NDArray[np.intp]) -> None:
        for row in rows:
            self._stack[row, :, :, : -self._channels] = self._stack[row, :, :, self._channels :]
            self._stack[row, :, :, -self._channels :] = frames[row]
