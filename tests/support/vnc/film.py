"""A vector environment whose frames, rewards and ends are given in advance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from universe_client.spaces.pixel_box import PixelBox
from universe_client.spaces.text_space import TextSpace


class Film(gymnasium.vector.VectorEnv):
    """Step t shows `frames[t]` (n, height, width, 3); `dones[t]` and `resetting[t]` are lists of rows.

    `reset` starts again at step 0. `send` and `recv` accept some of the rows. `infos` are added to the info.

    Attributes:
        heard: the actions of every step, or the rows and actions of each `send`.
    """

    metadata: dict[str, Any] = {"autoreset_mode": AutoresetMode.NEXT_STEP}  # noqa: RUF012

    def __init__(
        self,
        frames: Any,
        dones: dict[int, Sequence[int]] | None = None,
        resetting: dict[int, Sequence[int]] | None = None,
        rewards: float = 0.0,
        as_dict: bool = False,
        infos: dict[int, dict[str, Any]] | None = None,
    ) -> None:
        self.frames = np.asarray(frames, np.uint8)
        self.num_envs = self.frames.shape[1]
        pixels = PixelBox(self.frames.shape[2:])
        self.single_observation_space = (
            gymnasium.spaces.Dict(vision=pixels, text=TextSpace()) if as_dict else pixels
        )
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.single_action_space = gymnasium.spaces.Discrete(1000)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self.heard: list[list[int]] = []
        self._dones, self._resetting = dones or {}, resetting or {}
        self._rewards, self._as_dict = rewards, as_dict
        self._more = infos or {}
        self._time = self._resets = 0

    def _observe(self) -> Any:
        frames = self.frames[self._time % len(self.frames)].copy()
        return {"vision": frames, "text": ([],) * self.num_envs} if self._as_dict else frames

    def _rows(self, table: dict[int, Sequence[int]]) -> Any:
        return np.isin(np.arange(self.num_envs), table.get(self._time, ()))

    def _infos(self) -> dict[str, Any]:
        infos = {"resetting": self._rows(self._resetting), "_resetting": np.ones(self.num_envs, bool)}
        for key, values in self._more.get(self._time, {}).items():
            infos[key] = np.array([0 if value is None else value for value in values])
            infos[f"_{key}"] = np.array([value is not None for value in values])
        return infos

    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        self._resets += 1
        if not options:
            self._time = 0
        return self._observe(), self._infos()

    def step(self, actions: Any) -> Any:
        self.heard.append(list(actions))
        self._time += 1
        rewards = np.full(self.num_envs, self._rewards)
        return self._observe(), rewards, self._rows(self._dones), np.zeros(self.num_envs, bool), self._infos()

    def send(self, actions: Any, ids: Any = None) -> None:
        self._sent = np.arange(self.num_envs) if ids is None else np.asarray(ids)
        self._actions = list(actions)

    def recv(self, min_ready: Any = None, timeout: Any = None, **options: Any) -> Any:
        *results, infos = self.step(self._actions)
        infos |= {"env_id": np.arange(self.num_envs), "_env_id": np.ones(self.num_envs, bool)}
        return *(result[self._sent] for result in results), {key: infos[key][self._sent] for key in infos}


def flat(values: Any) -> Any:
    """Return frames (t, n, 2, 2, 3) of one value each."""
    return np.broadcast_to(np.asarray(values)[:, :, None, None, None], (*np.shape(values), 2, 2, 3))
