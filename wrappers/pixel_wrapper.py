"""The base of wrappers that change the pixels of Gymnasium's vector face."""

from __future__ import annotations

from typing import Any

import gymnasium
from gymnasium.vector import VectorEnv, VectorObservationWrapper
from gymnasium.vector.utils import batch_space

from universe_client.errors import ConfigError
from universe_client.pixel_box import PixelBox
from vnc.session import Frame


class PixelWrapper(VectorObservationWrapper[Any, Any, Any, Any]):
    """Passes a whole batch of frames through `pixels`, and the rest of the observations on.

    A wrapper says in `shape` what becomes of one frame's shape, and in `pixels` what becomes of the frames of all
    remotes, (n, height, width, channels). It must not write into the frames that it is given. With
    `observation="dict"` it is `"vision"` that changes.

    Example:
        class Negative(PixelWrapper):
            def pixels(self, frames):
                return 255 - frames
    """

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

    def shape(self, shape: tuple[int, int, int]) -> tuple[int, int, int]:
        """Return the shape that frames of `shape` get."""
        return shape

    def pixels(self, frames: Frame) -> Frame:
        """Return what becomes of the frames."""
        raise NotImplementedError

    def observations(self, observations: Any) -> Any:
        """Change the pixels of a batch of observations."""
        if isinstance(observations, dict):
            return {**observations, "vision": self.pixels(observations["vision"])}
        return self.pixels(observations)
