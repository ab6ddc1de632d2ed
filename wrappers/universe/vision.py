"""Observations that are only pixels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from wrappers.universe.wrapper import Wrapper


class Vision(Wrapper):
    """Replaces each observation with its `vision` array, uint8 (height, width, 3), RGB; None stays None.

    Example:
        env = Vision(universe_client.make("builtin.NeonDrive-v0", remotes=4))
        env.reset()
        frame_n, reward_n, done_n, info = env.step([[]] * 4)
        shapes = [None if frame is None else frame.shape for frame in frame_n]
    """

    instead: ClassVar[str] = "observation='pixels', the default"
    takes_lists: ClassVar[bool | None] = True

    def reset(self, **options: Any) -> list[Any]:
        """Reset the remotes and return their frames; see `VectorEnv.reset`."""
        return _vision(self.env.reset(**options))

    def recv(self, mask: Sequence[bool] | None = None) -> tuple[Any, Any, Any, Any]:
        """Return the results with frames as observations; see `VectorEnv.recv`."""
        observation_n, reward_n, done_n, info = self.env.recv(mask)
        return _vision(observation_n), reward_n, done_n, info


def _vision(observation_n: Sequence[dict[str, Any] | None]) -> list[Any]:
    return [None if observation is None else observation["vision"] for observation in observation_n]
