"""Wrappers whose pixels combine the frames of several steps of one episode."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.vector import VectorEnv
from numpy.typing import NDArray

from universe_client.errors import ConfigError
from universe_client.gym.batch.infos import FRAME_NUMBER, RESETTING, put
from universe_client.gym.batch.startup import brighten
from universe_client.gym.vector_env import GymVectorEnv
from vnc.pixels.reduction import Reduction
from vnc.session import Frame
from wrappers.gym.pixel_wrapper import PixelWrapper, vision_of
from wrappers.gym.wrapper import GymWrapper, RowNumbers, StepResult, chosen_rows


class HistoryWrapper(PixelWrapper):
    """The base class of wrappers that combine the frames of several steps.

    It calls `begin` with the first frame of an episode, and `follow` with the frame of each later step, whether or not
    that frame is new. Both write their result into `self._frames[row]`. Frames of two episodes are never combined.

    Example:
        class Motion(HistoryWrapper):
            def begin(self, row, frame):
                self._frames[row] = 0

            def follow(self, row, frame, new):
                self._frames[row] = 255 if new else 0
                return True
    """

    def __init__(self, env: VectorEnv[Any, Any, Any]) -> None:
        """Wrap `env`.

        Args:
            env: a vector environment whose observations are frames.

        Raises:
            ConfigError: the observations of `env` are not pixels, or its autoreset mode is `SAME_STEP`.
        """
        super().__init__(env)
        self._starts = np.ones(self.num_envs, np.bool_)  # the row's next frame is the first of an episode
        self._changes = np.zeros(self.num_envs, np.int64)

    def begin(self, row: int, frame: Frame) -> None:
        """Set `self._frames[row]` from the first frame of an episode.

        Args:
            row: the number of the row.
            frame: uint8 (height, width, channels), valid only during the call.
        """
        raise NotImplementedError

    def follow(self, row: int, frame: Frame, new: bool) -> bool:
        """Update `self._frames[row]` with the frame of the next step, and return whether the result changed.

        Args:
            row: the number of the row.
            frame: uint8 (height, width, channels), valid only during the call.
            new: whether the frame differs from that of the step before.
        """
        raise NotImplementedError

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Reset the environment; the history of each row that resets starts again. See `GymVectorEnv.reset`."""
        self._starts[chosen_rows(options, self.num_envs)] = True
        observations, infos = super().reset(seed=seed, options=options)
        self._end_step(np.arange(self.num_envs), infos)
        return observations, infos

    def results(self, rows: RowNumbers, result: StepResult) -> StepResult:
        """Combine the frames of a batch with those of the steps before."""
        observations, rewards, terminations, truncations, infos = super().results(rows, result)
        self._end_step(rows, infos)
        self._starts[rows] |= terminations | truncations
        return observations, rewards, terminations, truncations, infos

    def _end_step(self, rows: RowNumbers, infos: dict[str, Any]) -> None:
        self._starts[rows] &= infos.get(RESETTING, False)
        put(infos, FRAME_NUMBER, self._changes[rows])

    def take(self, rows: RowNumbers, frames: Frame, new: NDArray[np.bool_]) -> None:
        """Call `begin` or `follow` for each row; see `PixelWrapper.take`."""
        for row, frame, is_new in zip(rows, frames, new, strict=True):
            if self._starts[row]:
                self.begin(row, frame)
                self._changes[row] += 1
            else:
                self._changes[row] += self.follow(row, frame, bool(is_new))


class FrameStack(HistoryWrapper):
    """Joins the frames of the last `size` steps along the channels: uint8 (n, height, width, size x channels).

    The newest frame comes last. The first observation of an episode contains its first frame `size` times, so a stack
    never contains a frame of the episode before. One observation then shows motion (Mnih et al. 2015).

    Example:
        env = gymnasium.make_vec("universe/NeonDrive-v0", num_envs=4, step_rate=15)
        env = FrameStack(Resize(Grey(env), width=84, height=84), size=4)
        observations, infos = env.reset()
        assert observations.shape == (4, 84, 84, 4)
    """

    def __init__(self, env: VectorEnv[Any, Any, Any], size: int = 4) -> None:
        """Wrap `env`.

        Args:
            env: a vector environment whose observations are frames.
            size: how many frames an observation contains.

        Raises:
            ConfigError: `size` is not positive, or the observations are not frames.
        """
        if size < 1:
            raise ConfigError(f"size={size} must be at least 1")
        self._size = size
        super().__init__(env)
        self._channels = self._frames.shape[3] // size

    def shape(self, shape: tuple[int, int, int]) -> tuple[int, int, int]:
        """Return `shape` with `size` times the channels."""
        return shape[0], shape[1], shape[2] * self._size

    def begin(self, row: int, frame: Frame) -> None:
        """Fill the stack with one frame."""
        self._frames[row] = np.tile(frame, self._size)

    def follow(self, row: int, frame: Frame, new: bool) -> bool:
        """Drop the oldest frame of the stack and add the newest."""
        stack = self._frames[row]
        flat = stack.reshape(-1)  # one move of memory shifts the channels of all pixels
        flat[: -self._channels] = flat[self._channels :]
        stack[..., -self._channels :] = frame
        return True


class MaxFrames(HistoryWrapper):
    """Returns, pixel by pixel, the brighter value of the last two steps: uint8 (n, height, width, channels).

    Atari games draw some sprites only on every other frame; the maximum of two frames shows them always (Mnih et al.
    2015). The wrapper belongs inside `FrameSkip`, where each step is one frame.

    In lock-step mode the last two steps are the last two frames of the console. The remotes combine them themselves if
    all can; wrapping waits for them to be connected then, and the environment inside returns such frames from then on.
    In real time with `step_rate=60` and 60 frames per second they are the last two frames that the agent received: one
    may be missing or repeated.

    Example:
        env = gymnasium.make_vec("universe/Remote-v0", env_id="gym-core.ALE/Pong-v5", num_envs=8, step_rate=60)
        env = FrameSkip(MaxFrames(env), skip=4)
        observations, infos = env.reset()
        assert observations.shape == (8, 210, 160, 3)
    """

    def __init__(self, env: VectorEnv[Any, Any, Any]) -> None:
        """Wrap `env`.

        Args:
            env: a vector environment whose observations are frames.

        Raises:
            ConfigError: the observations of `env` are not pixels, or its autoreset mode is `SAME_STEP`.
        """
        super().__init__(env)
        self.passes_observations = self.passes_ticks = _brighten(env)
        if self.passes_observations:
            self.set_shape(vision_of(env.single_observation_space).shape)
        else:
            self._last = self._frames.copy()
        self._blended = np.zeros(self.num_envs, np.bool_)  # the row's last two frames differ

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Reset the environment; see `HistoryWrapper.reset`."""
        if not self.passes_observations:
            return super().reset(seed=seed, options=options)
        observations, infos = self.env.reset(seed=seed, options=options)
        return self._own(observations), infos

    def results(self, rows: RowNumbers, result: StepResult) -> StepResult:
        """Return the brighter frames of a batch."""
        if not self.passes_observations:
            return super().results(rows, result)
        return self._own(result[0]), *result[1:]

    def begin(self, row: int, frame: Frame) -> None:
        """Show the first frame unchanged."""
        self._frames[row] = self._last[row] = frame
        self._blended[row] = False

    def follow(self, row: int, frame: Frame, new: bool) -> bool:
        """Show the maximum of this frame and the one before."""
        if not new and not self._blended[row]:
            return False
        np.maximum(self._last[row], frame, out=self._frames[row])
        self._last[row] = frame
        self._blended[row] = new
        return True


def _brighten(env: Any) -> bool:
    """Have the remotes combine their last two frames, if nothing below changes frames; return whether they do."""
    while isinstance(env, GymWrapper) and env.passes_observations and not isinstance(env, MaxFrames):
        env = env.env
    if not isinstance(env, GymVectorEnv) or env.reduction is None or not brighten(env.core):
        return False
    if not env.reduction.is_whole:  # by wrappers that were around it before
        env.reduce(Reduction.whole(env.reduction.source))
    return True
