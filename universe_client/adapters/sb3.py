"""Stable-Baselines3's interface: remotes as one of its `VecEnv`s."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.error import AlreadyPendingCallError, NoAsyncCallError
from gymnasium.vector import AutoresetMode, VectorWrapper
from numpy.typing import NDArray
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import VecEnv
from stable_baselines3.common.vec_env.base_vec_env import VecEnvIndices, VecEnvObs, VecEnvStepReturn

from universe_client.errors import ConfigError
from universe_client.gym.batch.infos import unbatch
from universe_client.gym.vector_env import GymVectorEnv

__all__ = ["AlreadySteppingError", "NotSteppingError", "SB3VecEnv"]


class AlreadySteppingError(AlreadyPendingCallError):
    """An `_async` method was called before the `_wait` method of the last one."""


class NotSteppingError(NoAsyncCallError):
    """A `_wait` method was called without its `_async` method before it."""


class SB3VecEnv(VecEnv):
    """A `GymVectorEnv`, with or without vector wrappers, as a Stable-Baselines3 `VecEnv`.

    Autoreset is that of Stable-Baselines3: the step that ends an episode returns the first frame of the next one, and
    `infos[i]["terminal_observation"]` is the last frame of the old one. `step_wait` therefore waits for that first
    frame. No transition is lost or invented; rewards that other remotes earn during the wait arrive with their next
    step. A remote that does not return within `reset_timeout` raises an error, because there is no observation to
    continue with.

    The class includes the work of Stable-Baselines3's `Monitor`: at the end of an episode `infos[i]["episode"]` is a
    dict of `r` (return), `l` (steps) and `t` (seconds since this object was created). `env_is_wrapped(Monitor)` is
    therefore true, which is what `evaluate_policy` asks for. With `monitor=False` both are absent: use it inside a
    `VecMonitor`, for its log file for example, which otherwise warns that it replaces the statistics of a `Monitor`.

    An info contains only keys that have a value at that step.

    Attributes:
        env: the wrapped Gymnasium environment.
        reset_infos: the infos of the last resets, one dict per remote.

    Example:
        env = gymnasium.make_vec("universe/NeonDrive-v0", num_envs=8, step_rate=12, actions=[(), "Left", "Right"])
        model = PPO("CnnPolicy", SB3VecEnv(Resize(env, width=64, height=48)))
        model.learn(50_000)
    """

    def __init__(self, env: gymnasium.vector.VectorEnv[Any, Any, Any], *, monitor: bool = True) -> None:
        """Wrap `env`; `close` closes it.

        Args:
            env: a `GymVectorEnv`, with or without vector wrappers, with `reset_mode="block"`, `copy=True` and
                `autoreset_mode` `"NextStep"` or `"Disabled"`.
            monitor: report the statistics of episodes as a `Monitor` does.

        Raises:
            ConfigError: `env` contains no `GymVectorEnv`, or one with other modes.
        """
        remotes = env.unwrapped
        if not isinstance(remotes, GymVectorEnv):
            raise ConfigError(f"SB3VecEnv is for a GymVectorEnv, not for {remotes!r}")
        if remotes.reset_mode != "block":
            raise ConfigError(
                "SB3VecEnv needs reset_mode='block', not 'mask', whose steps may belong to no episode"
            )
        if remotes.autoreset_mode is AutoresetMode.SAME_STEP:
            raise ConfigError(
                "SB3VecEnv resets episodes itself: use autoreset_mode='NextStep', not 'SameStep'"
            )
        if not getattr(env, "copy", True):
            raise ConfigError(
                "copy=False overwrites observations that Stable-Baselines3 keeps: use copy=True"
            )
        self.env, self._remotes, self._monitor = env, remotes, monitor
        self._began = time.monotonic()
        self._returns = np.zeros(env.num_envs)
        self._lengths = np.zeros(env.num_envs, np.int64)
        self._pending: tuple[str, Any] | None = None
        super().__init__(env.num_envs, env.single_observation_space, env.single_action_space)

    # -- episodes -----------------------------------------------------------------------------------------------

    def reset(self) -> VecEnvObs:
        """Begin new episodes with the seeds set by `seed`, and cancel a pending call.

        Options set by `set_options` do not reach the remotes. The vector wrappers receive them if they are the same for
        all remotes.

        Returns:
            The first observations, one row per remote.

        Raises:
            ResetTimeout: a reset took longer than `reset_timeout`; the message names the remotes.
            RemoteError: a remote failed permanently.
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
        """Store one action per remote, which `step_wait` sends.

        Args:
            actions: a batch of `num_envs` actions of `action_space`.

        Raises:
            AlreadySteppingError: a call is pending.
        """
        self._begin("step", actions)

    def step_wait(self) -> VecEnvStepReturn:
        """Send the actions of `step_async` and return the results.

        Returns:
            Observations (one row per remote), rewards float32 (n,), dones bool (n,), and infos, a list of n dicts; see
            the class.

        Raises:
            NotSteppingError: `step_async` was not called.
            ConfigError: an action is not in the space.
            ResetTimeout: a remote did not begin its next episode within `reset_timeout`.
            RemoteError: a remote failed permanently.
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
        """Reset the rows of `dones`, report their ends in `infos`, and return observations with their first frames."""
        ended = [int(row) for row in np.flatnonzero(dones)]
        for row in ended:
            infos[row]["terminal_observation"] = _row(observations, row)
            if self._monitor:
                infos[row]["episode"] = self._episode(row)
        self._returns[dones], self._lengths[dones] = 0, 0
        first: VecEnvObs
        first, batched = self.env.reset(options={"reset_mask": dones})
        reset_infos = unbatch(batched, self.num_envs)
        for row in ended:
            self.reset_infos[row] = reset_infos[row]
        return first

    def _episode(self, row: int) -> dict[str, float]:
        return {
            "r": round(float(self._returns[row]), 6),
            "l": int(self._lengths[row]),
            "t": round(time.monotonic() - self._began, 6),
        }

    def close(self) -> None:
        """Close all connections and release all remotes. Further calls have no effect."""
        self.env.close()

    # -- pending calls ------------------------------------------------------------------------------------------

    def _begin(self, name: str, arguments: Any) -> None:
        if self._pending is not None:
            raise AlreadySteppingError(f"{name}_async() before {self._pending[0]}_wait()", name)
        self._pending = name, arguments

    def _end(self, name: str) -> Any:
        if self._pending is None or self._pending[0] != name:
            raise NotSteppingError(f"{name}_wait() without {name}_async() before it", name)
        arguments, self._pending = self._pending[1], None
        return arguments

    def get_state_info(self, states: Sequence[Any], actions: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """Call `get_state_info(state, action)` of each remote's environment.

        Args:
            states: one state per remote.
            actions: one action per remote.

        Returns:
            A list of rewards and a list of dones.

        Raises:
            AttributeError: the remotes do not allow calls of `get_state_info`.
            CallFailed: the environment raised an exception, or did not answer.
        """
        self.get_state_info_async(states, actions)
        return self.get_state_info_wait()

    def get_state_info_async(self, states: Sequence[Any], actions: Sequence[Any]) -> None:
        """Store one state and one action per remote, which `get_state_info_wait` sends."""
        self._begin("get_state_info", (states, actions))

    def get_state_info_wait(self) -> tuple[list[Any], list[Any]]:
        """Make the calls of `get_state_info_async` and return a list of rewards and a list of dones."""
        states, actions = self._end("get_state_info")
        results = [
            self.env_method("get_state_info", state, action, indices=index)[0]
            for index, (state, action) in enumerate(zip(states, actions, strict=True))
        ]
        return [reward for reward, _ in results], [done for _, done in results]

    # -- one by one ---------------------------------------------------------------------------------------------

    def get_attr(self, attr_name: str, indices: VecEnvIndices = None) -> list[Any]:
        """Return an attribute of each remote of `indices` (default: all); see `GymVectorEnv.get_attr`."""
        return list(self._remotes.get_attr(attr_name, list(self._get_indices(indices))))

    def set_attr(self, attr_name: str, value: Any, indices: VecEnvIndices = None) -> None:
        """Set an attribute of each remote of `indices` (default: all) to `value`; see `GymVectorEnv.set_attr`."""
        chosen = list(self._get_indices(indices))
        self._remotes.set_attr(attr_name, [value] * len(chosen), chosen)

    def env_method(
        self, method_name: str, *method_args: Any, indices: VecEnvIndices = None, **method_kwargs: Any
    ) -> list[Any]:
        """Call a method of each remote of `indices` (default: all) and return the results; see `GymVectorEnv.call`."""
        chosen = list(self._get_indices(indices))
        return list(self._remotes.call(method_name, *method_args, indices=chosen, **method_kwargs))

    def env_is_wrapped(self, wrapper_class: type[Any], indices: VecEnvIndices = None) -> list[bool]:
        """Return, for each remote of `indices` (default: all), whether a vector wrapper is of `wrapper_class`.

        The answer is true for `Monitor` too, whose work this class does, unless it was created with `monitor=False`.
        """
        env, found = self.env, self._monitor and wrapper_class is Monitor
        while isinstance(env, VectorWrapper):
            found, env = found or isinstance(env, wrapper_class), env.env
        return [found for _ in self._get_indices(indices)]

    def get_images(self) -> Sequence[NDArray[np.uint8] | None]:
        """Return a copy of each remote's newest frame, uint8 (height, width, 3), or None."""
        return self.env_method("render")


def _row(observations: Any, row: int) -> Any:
    if isinstance(observations, dict):
        return {key: value[row].copy() for key, value in observations.items()}
    return observations[row].copy()
