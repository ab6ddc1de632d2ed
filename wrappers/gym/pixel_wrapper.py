"""The base class of the wrappers that change pixels."""

from __future__ import annotations

from typing import Any, ClassVar

import gymnasium
import numpy as np
from gymnasium.vector import VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from universe_client.errors import ConfigError
from universe_client.gym.batch.infos import FRAME_NUMBER
from universe_client.gym.vector_env import GymVectorEnv
from universe_client.spaces.pixel_box import PixelBox
from vnc.session import Frame
from wrappers.gym.wrapper import GymWrapper, RowNumbers, StepResult, chosen_rows

_NO_FRAME = np.iinfo(np.int64).min


class PixelWrapper(GymWrapper):
    """The base class of wrappers that turn one frame into another.

    A subclass overrides `pixels`, which converts one frame, and `shape`, if the frame's shape changes. With
    `observation="dict"` only `"vision"` changes. Only new frames are converted: a row whose `infos["frame_number"]` is
    the same as at the step before keeps its result. Without that info every frame counts as new.

    The wrapper sets `copy` of a `GymVectorEnv` or `PixelWrapper` below it to False, so that frames between the two are
    not copied. Leave it so.

    Attributes:
        copy: True (the default): each call returns new arrays. False: each call that returns all rows returns the same
            array, overwritten.

    Example:
        class Negative(PixelWrapper):
            def pixels(self, frame):
                return 255 - frame
    """

    takes_same_step: ClassVar[bool] = False

    def __init__(self, env: VectorEnv[Any, Any, Any]) -> None:
        """Wrap `env`.

        Args:
            env: a vector environment whose observations are uint8 (n, height, width, channels), or a dict with such
                an array as `"vision"`.

        Raises:
            ConfigError: the observations of `env` are not pixels, or its autoreset mode is `SAME_STEP`.
        """
        super().__init__(env)
        vision = vision_of(env.single_observation_space)
        if not isinstance(vision, PixelBox) or len(vision.shape) != 3:
            raise ConfigError(
                f"{type(self).__name__} needs observations that are frames, not {env.single_observation_space}"
            )
        self.copy = True
        height, width, channels = vision.shape
        self.set_shape(self.shape((height, width, channels)))
        _stop_copying(env)

    def set_shape(self, shape: tuple[int, int, int]) -> None:
        """Return frames of `shape` (height, width, channels) from now on."""
        self.single_observation_space = with_vision(self.env.single_observation_space, PixelBox(shape))
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self._frames: Frame = np.zeros((self.num_envs, *shape), np.uint8)
        self._numbers = np.full(self.num_envs, _NO_FRAME, np.int64)

    def shape(self, shape: tuple[int, int, int]) -> tuple[int, int, int]:
        """Return the (height, width, channels) of the result for frames of `shape`. The base class returns `shape`."""
        return shape

    def pixels(self, frame: Frame) -> Frame:
        """Return the converted frame.

        Args:
            frame: uint8 (height, width, channels), read-only for the duration of the call.
        """
        raise NotImplementedError

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Reset the environment and return converted observations; see `GymVectorEnv.reset`."""
        observations, infos = self.env.reset(seed=seed, options=options)
        chosen = chosen_rows(options, self.num_envs)
        self.take(chosen, vision_of(observations)[chosen], self._are_new(chosen, infos, chosen))
        return self._give(np.arange(self.num_envs), observations), infos

    def results(self, rows: RowNumbers, result: StepResult) -> StepResult:
        """Convert the frames of a batch."""
        observations, rewards, terminations, truncations, infos = result
        new = self._are_new(rows, infos, np.arange(len(rows)))
        self.take(rows, vision_of(observations), new)
        return self._give(rows, observations), rewards, terminations, truncations, infos

    def take(self, rows: RowNumbers, frames: Frame, new: NDArray[np.bool_]) -> None:
        """Convert the frames that are new and store the results.

        Args:
            rows: intp (k,), the rows that the frames belong to.
            frames: uint8 (k, height, width, channels).
            new: bool (k,), whether a row's frame differs from that of the step before.
        """
        for place in np.flatnonzero(new):
            self._frames[rows[place]] = self.pixels(frames[place])

    def _are_new(self, rows: RowNumbers, infos: dict[str, Any], places: RowNumbers) -> NDArray[np.bool_]:
        if FRAME_NUMBER not in infos:
            return np.ones(len(rows), np.bool_)
        numbers = infos[FRAME_NUMBER][places]
        new: NDArray[np.bool_] = numbers != self._numbers[rows]
        self._numbers[rows] = numbers
        return new

    def _give(self, rows: RowNumbers, observations: Any) -> Any:
        frames = self._frames
        if self.copy or len(rows) < self.num_envs:
            frames = frames[rows]
        return with_vision(observations, frames)

    def _own(self, observations: Any) -> Any:
        """Return observations whose pictures have been made below this wrapper."""
        frames = vision_of(observations)
        return with_vision(
            observations, frames.copy() if self.copy and len(frames) == self.num_envs else frames
        )


def vision_of(observations: Any) -> Any:
    """Return the pixels of observations, or the space of the pixels of their space."""
    return observations["vision"] if isinstance(observations, dict | gymnasium.spaces.Dict) else observations


def with_vision(observations: Any, frames: Any) -> Any:
    """Return observations with other pixels, or their space with another space of pixels."""
    if isinstance(observations, gymnasium.spaces.Dict):
        return gymnasium.spaces.Dict({**observations.spaces, "vision": frames})
    return {**observations, "vision": frames} if isinstance(observations, dict) else frames


def _stop_copying(env: Any) -> None:
    """Set `copy` to False in the next environment below that has it.

    The search passes through `GymWrapper`s, which must not keep observations, and stops at any other wrapper.
    """
    while isinstance(env, GymWrapper) and not isinstance(env, PixelWrapper):
        env = env.env
    if isinstance(env, PixelWrapper | GymVectorEnv):
        env.copy = False
