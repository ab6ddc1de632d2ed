"""Resets that wait: observations are never None."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, ClassVar

from universe_client.core.first_frames import check_awaited
from universe_client.core.info import CURRENT, SCHEMA, merge
from universe_client.errors import ConfigError
from universe_client.vector_env import VectorEnv
from wrappers.universe.wrapper import Wrapper

_END = (
    "terminated",
    "truncated",
    "end_reason",
    "env_status.complete.episode_id",
    "env_status.complete.env_state",
    "env_status.skipped_episodes",
)
"""Info keys that describe the end of an episode."""


class BlockingReset(Wrapper):
    """Makes `reset` and `step` wait until every remote has an observation.

    The other remotes keep running while the wrapper waits for one. It receives from each of them again at the end of
    the wait, so that their frames are the newest and no reward is missing; it also waits for those whose episode ended
    meanwhile. It does not receive from a remote that has reported `done` until the next step, so no step mixes the
    rewards of two episodes. Rewards that arrive with the first observation of a `reset` are added to the next step.
    Nothing is lost when the wait times out: the next `step` or `recv` continues the wait.

    Attributes:
        timeout: the limit of one call's wait, in seconds.

    Example:
        env = BlockingReset(universe_client.make("builtin.NeonDrive-v0", remotes=4), timeout=60)
        observation_n = env.reset()
        while True:
            action_n = [agent(observation) for observation in observation_n]
            observation_n, reward_n, done_n, info = env.step(action_n)
    """

    instead: ClassVar[str] = "reset_mode='block', the default"
    takes_lists: ClassVar[bool | None] = True

    def __init__(self, env: VectorEnv | Wrapper, timeout: float = 120.0) -> None:
        """Wrap `env`.

        Args:
            env: a `VectorEnv`, with or without wrappers.
            timeout: how long one call may wait for all its remotes together, in seconds.

        Raises:
            ConfigError: `timeout` is not positive.
        """
        super().__init__(env)
        if timeout <= 0:
            raise ConfigError(f"timeout={timeout!r} is not a positive number of seconds")
        self.timeout = timeout
        self._slots: list[_Merged] = [_Merged() for _ in range(env.n)]

    def reset(self, **options: Any) -> list[Any]:
        """Reset the remotes and wait for their first observations.

        Args:
            options: as for `VectorEnv.reset`.

        Returns:
            One observation per remote, none of them None.

        Raises:
            ResetTimeout: a remote has no observation after `timeout` seconds; the message names the remotes.
            RemoteError: a remote failed permanently.
        """
        self.env.reset(**options)
        mask = options.get("mask")
        for index in range(self.n):
            if mask is None or mask[index]:
                self._slots[index] = _Merged()
        self._wait()
        for slot in self._slots:
            slot.forget_end()
        return [slot.observation for slot in self._slots]

    def recv(self, mask: Sequence[bool] | None = None) -> tuple[Any, Any, Any, Any]:
        """Return the results of the step as soon as no observation is None.

        Args:
            mask: must be None or true for every remote.

        Returns:
            Observations, rewards, dones and info; see `VectorEnv.recv`.

        Raises:
            ConfigError: `mask` excludes a remote.
            ResetTimeout: a remote has no observation after `timeout` seconds; the message names the remotes.
            RemoteError: a remote failed permanently.
        """
        if mask is not None and not all(mask):
            raise ConfigError("BlockingReset waits for all remotes: its mask must not exclude any")
        self._look([not slot.done for slot in self._slots])
        self._wait()
        results = (
            [slot.observation for slot in self._slots],
            [slot.reward for slot in self._slots],
            [slot.done for slot in self._slots],
            {"n": [slot.info for slot in self._slots]},
        )
        for slot in self._slots:
            slot.clear()
        return results

    def _look(self, mask: Sequence[bool]) -> None:
        observation_n, reward_n, done_n, info = self.env.recv(mask)
        for index, slot in enumerate(self._slots):
            if mask[index]:
                slot.merge(observation_n[index], reward_n[index], done_n[index], info["n"][index])

    def _wait(self) -> None:
        """Wait for missing observations, receive from the other remotes once, wait for those that ended meanwhile."""
        deadline = time.monotonic() + self.timeout
        if not self._wait_for_observations(deadline):
            return
        self._look([not (slot.done or slot.waited) for slot in self._slots])
        self._wait_for_observations(deadline)

    def _wait_for_observations(self, deadline: float) -> bool:
        """Wait until no observation is missing; return whether one was."""
        waited = False
        while any(missing := [slot.observation is None for slot in self._slots]):
            remotes = zip(self.unwrapped.remotes, missing, strict=True)
            check_awaited([remote for remote, lacks in remotes if lacks], deadline, self.timeout)
            self.unwrapped.wait(deadline - time.monotonic())
            self._look(missing)
            for slot, was_missing in zip(self._slots, missing, strict=True):
                slot.waited |= was_missing
            waited = True
        return waited


class _Merged:
    """The results of one remote since the last step, with the next episode's rewards kept separate."""

    def __init__(self) -> None:
        self.next_reward = 0.0
        self.next_info: dict[str, Any] = {}
        self.clear()

    def clear(self) -> None:
        self.observation: Any = None
        self.reward: float | None = self.next_reward
        self.next_reward = 0.0
        self.done: bool | None = False
        self.waited = False
        self.info: dict[str, Any] = self.next_info
        self.next_info = {}

    def forget_end(self) -> None:
        """Keep the reward of an episode that the agent has not seen, and drop the report of its end."""
        if self.reward is not None:
            self.reward += self.next_reward
        self.next_reward = 0.0
        self.info = merge(self.info, self.next_info) | {key: SCHEMA[key][0] for key in _END}
        self.next_info = {}
        self.done, self.waited = False, False

    def merge(self, observation: Any, reward: float | None, done: bool | None, info: dict[str, Any]) -> None:
        self.observation = observation
        if self.done:
            self._merge_next(reward or 0.0, bool(done), info)
            return
        self.reward = None if reward is None else (self.reward or 0.0) + reward
        self.done = done
        self.info = merge(self.info, info)

    def _merge_next(self, reward: float, done: bool, info: dict[str, Any]) -> None:
        """Store the results of the episode after the one whose end is reported; count it as skipped if it ended too."""
        self.next_reward += reward
        self.next_info = merge(self.next_info, info | {"error": None})
        if done:
            self.next_info = {}
            assert self.reward is not None
            self.reward, self.next_reward = self.reward + self.next_reward, 0.0
            self.info["env_status.skipped_episodes"] += 1 + info["env_status.skipped_episodes"]
        self.info |= {key: info[key] for key in CURRENT}
        self.info["error"] = info["error"] or self.info["error"]
