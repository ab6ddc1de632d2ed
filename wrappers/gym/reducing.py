"""The base class of wrappers that make smaller pictures of each frame."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from gymnasium.vector import VectorEnv

from universe_client.gym.vector_env import GymVectorEnv
from vnc.pixels.reduction import Reduction
from vnc.session import Frame
from wrappers.gym.pixel_wrapper import PixelWrapper, vision_of
from wrappers.gym.wrapper import GymWrapper, RowNumbers, StepResult


class ReducingWrapper(PixelWrapper):
    """The base class of `Crop`, `Grey` and `Resize`, which leaves the work to an environment below where it can.

    A `GymVectorEnv` draws the smaller pictures itself, from the pixels that have changed: whole frames are then neither
    copied nor converted, and the observation space of that environment changes too. `render` still returns whole
    frames. Otherwise the lowest of several such wrappers draws the pictures of all of them in one pass. In between may
    be wrappers that pass observations on (`GymWrapper.passes_observations`).
    """

    passes_ticks = True

    def __init__(self, env: VectorEnv[Any, Any, Any]) -> None:
        """Wrap `env`; see `PixelWrapper`."""
        super().__init__(env)
        below = _reducible(env) if type(self).pixels is ReducingWrapper.pixels else None
        further = None if below is None or below.reduction is None else self.change(below.reduction)
        self.reduction: Reduction | None = None  # None: an environment below makes the pictures
        if below is None or further is None:
            shape: Any = vision_of(env.single_observation_space).shape
            self.reduction = self.change(Reduction.whole(shape))
        else:
            below.reduce(further)

    @abstractmethod
    def change(self, reduction: Reduction) -> Reduction | None:
        """Return `reduction`, reduced further by this wrapper; None if one reduction cannot do both."""

    def shape(self, shape: tuple[int, int, int]) -> tuple[int, int, int]:
        """Return the shape of the pictures of frames of `shape`."""
        reduction = self.change(Reduction.whole(shape))
        assert reduction is not None, "a whole frame can be reduced"
        return reduction.shape

    def reduce(self, reduction: Reduction) -> None:
        """Make the pictures of another reduction, for a wrapper above."""
        self.reduction = reduction
        self.set_shape(reduction.shape)

    def pixels(self, frame: Frame) -> Frame:
        """Return the picture of a frame."""
        assert self.reduction is not None, "called only by the wrapper that draws the pictures"
        picture = np.empty(self.reduction.shape, np.uint8)
        self.reduction.draw(frame, picture)
        return picture

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Reset the environment and return the pictures; see `GymVectorEnv.reset`."""
        if self.reduction is not None:
            return super().reset(seed=seed, options=options)
        observations, infos = self.env.reset(seed=seed, options=options)
        return self._own(observations), infos

    def results(self, rows: RowNumbers, result: StepResult) -> StepResult:
        """Return the pictures of a batch."""
        if self.reduction is not None:
            return super().results(rows, result)
        return self._own(result[0]), *result[1:]


def _reducible(env: Any) -> GymVectorEnv | ReducingWrapper | None:
    """Return the environment below whose pictures can be reduced further; None if there is none."""
    while isinstance(env, GymWrapper):
        if isinstance(env, ReducingWrapper) and env.reduction is not None:
            return env
        if not (isinstance(env, ReducingWrapper) or env.passes_observations):
            return None
        env = env.env
    return env if isinstance(env, GymVectorEnv) else None
