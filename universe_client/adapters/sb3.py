"""Stable-Baselines3's face: the remotes as one of its `VecEnv`s."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from types import FrameType
from typing import Any

import gymnasium
import numpy as np
from gymnasium.error import AlreadyPendingCallError, NoAsyncCallError
from gymnasium.vector import AutoresetMode, VectorWrapper
from numpy.typing import NDArray
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import VecEnv, VecMonitor
from stable_baselines3.common.vec_env.base_vec_env import VecEnvIndices, VecEnvObs, VecEnvStepReturn

from universe_client.errors import ConfigError
from universe_client.gym.infos import unbatch
from universe_client.gym.vector_env import GymVectorEnv

__all__ = ["AlreadySteppingError", "NotSteppingError", "SB3VecEnv"]


class AlreadySteppingError(AlreadyPendingCallError):
    """An `_async` method was called while the result of another one is owed."""


class NotSteppingError(NoAsyncCallError):
    """A `_wait` method was called without its `_async` method before it."""


class SB3VecEnv(VecEnv):
    """A `GymVectorEnv`, in whatever vector wrappers, as a Stable-Baselines3 `VecEnv`.

    Autoreset is that of Stable-Baselines3: the step that ends an episode returns the first frame of the next one, and
    `infos[i]["terminal_observation"]` is the last frame of the old one. So `step_wait` waits for that first frame, and
    no transition is lost or made up; what the other remotes earn meanwhile comes with their next step. A remote that
    does not come back within `reset_timeout` is an error, as there is no observation to go on with.

    An episode's end also brings `infos[i]["episode"]`, as from a `Monitor`: `r` (return), `l` (steps) and `t` (seconds
    since this object was made). What a remote has not told has no key in its info.

    Attributes:
        env: the Gymnasium environment underneath.

    Example:
        env = gymnasium.make_vec("universe/NeonDrive-v0", num_envs=8, step_rate=12, actions=[(), "Left", "Right"])
        model = PPO("CnnPolicy", SB3VecEnv(Resize(env, width=64, height=48)))
        model.learn(50_000)
    """

    def __init__(self, env: gymnasium.vector.VectorEnv[Any, Any, Any]) -> None:
        """Wrap `env`, and close it at the end.

        Raises:
            ConfigError: there is no GymVectorEnv in it, or one whose resets or observations cannot be waited for or
                kept.
        """
        remotes = env.unwrapped
        if not isinstance(remotes, GymVectorEnv):
            raise ConfigError(f"SB3VecEnv is for a GymVectorEnv, not for {remotes!r}")
        if remotes.reset_mode != "block":
            raise ConfigError(
                "reset_mode='mask' would give Stable-Baselines3 steps of no episode: use 'block'"
            )
        if remotes.autoreset_mode is AutoresetMode.SAME_STEP:
            raise ConfigError("SB3VecEnv begins episodes anew by itself: use autoreset_mode='NextStep'")
        if not getattr(env, "copy", True):
            raise ConfigError(
                "copy=False overwrites observations that Stable-Baselines3 keeps: use copy=True"
            )
        self.env, self._remotes = env, remotes
        self._began = time.monotonic()
        self._returns = np.zeros(env.num_envs)
        self._lengths = np.zeros(env.num_envs, np.int64)
        self._pending: tuple[str, Any] | None = None
        super().__init__(env.num_envs, env.single_observation_space, env.single_action_space)

    # -- episodes -----------------------------------------------------------------------------------------------

    def reset(self) -> VecEnvObs:
        """Begin new episodes, with the seeds of `seed`; a pending call is cancelled.

        The options of `set_options` may be any, and mean nothing to remotes; where they are the same for all, wrappers
        are given them.

        Raises:
            ResetTimeout: it took longer than `reset_timeout`; the message names the remotes.
            RemoteError: a remote cannot come back.
        """
        self._pending = None
        seeds = None if all(seed is None for seed in self._seeds) else self._seeds
        same = all(options == self._options[0] for options in self._options)
        options = self._options[0] if same and self._options[0] else None
        observations: VecEnvObs
        observations, infos = self.env.reset(seed=seeds, options=options)  # type: ignore[arg-type]
        self._reset_seeds()
        self._reset_options()
        self.reset_infos = unbatch(infos, self.num_envs)
        self._returns[:], self._lengths[:] = 0, 0
        return observations

    def step_async(self, actions: NDArray[Any]) -> None:
        """Have `step_wait` send one action to each remote.

        Raises:
            AlreadySteppingError: a call is pending.
        """
        self._begin("step", actions)

    def step_wait(self) -> VecEnvStepReturn:
        """Send the actions of `step_async`; return (observations, rewards, dones, infos), see the class.

        Raises:
            NotSteppingError: there was no `step_async`.
            ConfigError: an action is not in the space.
            ResetTimeout, RemoteError: as for `reset`, when a remote is to begin its next episode.
        """
        result = self.env.step(self._end("step"))
        observations, rewards, terminations, truncations, batched = result
        infos = unbatch(batched, self.num_envs)
        for info, cut in zip(infos, truncations & ~terminations, strict=True):
            info["TimeLimit.truncated"] = bool(cut)
        self._returns += rewards
        self._lengths += 1
        dones = terminations | truncations
        if dones.any():
            observations = self._next_episodes(observations, dones, infos)
        return observations, rewards.astype(np.float32), dones, infos

    def _next_episodes(
        self, observations: VecEnvObs, dones: NDArray[np.bool_], infos: list[dict[str, Any]]
    ) -> VecEnvObs:
        """Tell in `infos` what has ended; return observations in which the rows of `dones` have begun anew."""
        ended = [int(row) for row in np.flatnonzero(dones)]
        for row in ended:
            infos[row]["terminal_observation"] = _row(observations, row)
            infos[row]["episode"] = {
                "r": round(float(self._returns[row]), 6),
                "l": int(self._lengths[row]),
                "t": round(time.monotonic() - self._began, 6),
            }
        self._returns[dones], self._lengths[dones] = 0, 0
        first: VecEnvObs
        first, batched = self.env.reset(options={"reset_mask": dones})
        reset_infos = unbatch(batched, self.num_envs)
        for row in ended:
            self.reset_infos[row] = reset_infos[row]
        return first

    def close(self) -> None:
        """Hang up, and give every remote back. Idempotent."""
        self.env.close()

    # -- pending calls ------------------------------------------------------------------------------------------

    def _begin(self, name: str, arguments: Any) -> None:
        if self._pending is not None:
            raise AlreadySteppingError(f"{name}_async() while {self._pending[0]}_wait() is owed", name)
        self._pending = name, arguments

    def _end(self, name: str) -> Any:
        if self._pending is None or self._pending[0] != name:
            raise NotSteppingError(f"{name}_wait() without {name}_async() before it", name)
        arguments, self._pending = self._pending[1], None
        return arguments

    def get_state_info(self, states: Sequence[Any], actions: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """Ask each remote's environment what its action in its state would bring; return rewards and dones.

        Raises:
            AttributeError: the remotes do not list `get_state_info` among what may be called.
            CallFailed: the environment raised, or did not answer.
        """
        self.get_state_info_async(states, actions)
        return self.get_state_info_wait()

    def get_state_info_async(self, states: Sequence[Any], actions: Sequence[Any]) -> None:
        """Have `get_state_info_wait` ask; one state and one action per remote."""
        self._begin("get_state_info", (states, actions))

    def get_state_info_wait(self) -> tuple[list[Any], list[Any]]:
        """Return what `get_state_info_async` was asked for."""
        states, actions = self._end("get_state_info")
        told = [
            self.env_method("get_state_info", state, action, indices=index)[0]
            for index, (state, action) in enumerate(zip(states, actions, strict=True))
        ]
        return [reward for reward, _ in told], [done for _, done in told]

    # -- one by one ---------------------------------------------------------------------------------------------

    def get_attr(self, attr_name: str, indices: VecEnvIndices = None) -> list[Any]:
        """Return an attribute of each of the remotes; see `GymVectorEnv.get_attr` for what there is."""
        return list(self._remotes.get_attr(attr_name, list(self._get_indices(indices))))

    def set_attr(self, attr_name: str, value: Any, indices: VecEnvIndices = None) -> None:
        """Set an attribute of each of the remotes to `value`."""
        chosen = list(self._get_indices(indices))
        self._remotes.set_attr(attr_name, [value] * len(chosen), chosen)

    def env_method(
        self, method_name: str, *method_args: Any, indices: VecEnvIndices = None, **method_kwargs: Any
    ) -> list[Any]:
        """Call a method of each of the remotes; return the results."""
        chosen = list(self._get_indices(indices))
        return list(self._remotes.call(method_name, *method_args, indices=chosen, **method_kwargs))

    def env_is_wrapped(self, wrapper_class: type[Any], indices: VecEnvIndices = None) -> list[bool]:
        """Whether the vector wrappers, which are around all remotes, include one.

        A `Monitor`'s work is built in, so `evaluate_policy` finds one. To a `VecMonitor` there is none: it warns of
        another one's files and numbers, and here are no files, and the numbers are the same.
        """
        env, found = self.env, wrapper_class is Monitor and not _asked_by_vec_monitor()
        while isinstance(env, VectorWrapper):
            found, env = found or isinstance(env, wrapper_class), env.env
        return [found for _ in self._get_indices(indices)]

    def get_images(self) -> Sequence[NDArray[np.uint8] | None]:
        """Return a copy of each remote's newest frame."""
        return self.env_method("render")


def _asked_by_vec_monitor() -> bool:
    frame: FrameType | None = sys._getframe(2)
    while (
        frame is not None and frame.f_code.co_name == VecEnv.env_is_wrapped.__name__
    ):  # of wrappers in between
        frame = frame.f_back
    return frame is not None and frame.f_code is VecMonitor.__init__.__code__


def _row(observations: Any, row: int) -> Any:
    if isinstance(observations, dict):
        return {key: value[row].copy() for key, value in observations.items()}
    return observations[row].copy()
