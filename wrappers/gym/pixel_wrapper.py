"""The base of wrappers that change the pixels of Gymnasium's vector face."""

from __future__ import annotations

from typing import Any, ClassVar

import gymnasium
import numpy as np
from gymnasium.vector import VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from universe_client.errors import ConfigError
from universe_client.gym.infos import FRAME_NUMBER
from universe_client.gym.vector_env import GymVectorEnv
from universe_client.spaces.pixel_box import PixelBox
from vnc.session import Frame
from wrappers.gym.gym_wrapper import GymWrapper, RowNumbers, StepResult, chosen_rows

_NONE = np.iinfo(np.int64).min
"""The number of no frame."""


class PixelWrapper(GymWrapper):
    """Passes each frame through `pixels`, once, and the rest of the observations on.

    A wrapper says in `shape` what becomes of a frame's shape, and in `pixels` what becomes of the frame, (height,
    width, channels), which is only lent. With `observation="dict"` it is `"vision"` that changes. A row whose
    `infos["frame_number"]` is that of the step before costs nothing; where there is no such info, every frame is new.

    What is wrapped is told to lend its frames instead of copying them, and to go on lending.

    Attributes:
        copy: whether observations are the caller's to keep; otherwise they are the one array that is lent every time.

    Example:
        class Negative(PixelWrapper):
            def pixels(self, frame):
                return 255 - frame
    """

    takes_same_step: ClassVar[bool] = False

    def __init__(self, env: VectorEnv[Any, Any, Any]) -> None:
        """Wrap `env`.

        Raises:
            ConfigError: its observations are not pixels.
        """
        super().__init__(env)
        single = env.single_observation_space
        vision = single["vision"] if isinstance(single, gymnasium.spaces.Dict) else single
        if not isinstance(vision, PixelBox) or len(vision.shape) != 3:
            raise ConfigError(f"{type(self).__name__} needs frames, not observations in {single}")
        height, width, channels = vision.shape
        space = PixelBox(self.shape((height, width, channels)))
        if isinstance(single, gymnasium.spaces.Dict):
            self.single_observation_space = gymnasium.spaces.Dict({**single.spaces, "vision": space})
        else:
            self.single_observation_space = space
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.copy = True
        self._frames: Frame = np.zeros((self.num_envs, *space.shape), np.uint8)
        self._numbers = np.full(self.num_envs, _NONE, np.int64)
        _borrow(env)

    def shape(self, shape: tuple[int, int, int]) -> tuple[int, int, int]:
        """Return the shape that a frame of `shape` gets."""
        return shape

    def pixels(self, frame: Frame) -> Frame:
        """Return what becomes of one frame."""
        raise NotImplementedError

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Reset, and change the pixels of the rows that do."""
        observations, infos = self.env.reset(seed=seed, options=options)
        chosen = chosen_rows(options, self.num_envs)
        self.take(chosen, _vision(observations)[chosen], self._are_new(chosen, infos, chosen))
        return self._give(np.arange(self.num_envs), observations), infos

    def results(self, rows: RowNumbers, result: StepResult) -> StepResult:
        """Change the pixels."""
        observations, rewards, terminations, truncations, infos = result
        new = self._are_new(rows, infos, np.arange(len(rows)))
        self.take(rows, _vision(observations), new)
        return self._give(rows, observations), rewards, terminations, truncations, infos

    def take(self, rows: RowNumbers, frames: Frame, new: NDArray[np.bool_]) -> None:
        """Change those of the frames that are `new`, and keep the results by row."""
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
        return {**observations, "vision": frames} if isinstance(observations, dict) else frames


def _vision(observations: Any) -> Frame:
    frames: Frame = observations["vision"] if isinstance(observations, dict) else observations
    return frames


def _borrow(env: Any) -> None:
    """Have frames lent that nobody else sees; stop at wrappers that may keep what passes through them."""
    while isinstance(env, GymWrapper) and not isinstance(env, PixelWrapper):
        env = env.env
    if isinstance(env, PixelWrapper | GymVectorEnv):
        env.copy = False
