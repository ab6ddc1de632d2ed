"""`gym-core.<gymnasium id>`: any Gymnasium environment that renders, in real time and on the keyboard."""

from __future__ import annotations

import importlib
import importlib.util
import os
from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.envs.registration import EnvSpec

from rewarder.environment import Runtime, Tick
from rewarder.keys import HeldKeys
from rewarder.runtimes.gym_keys import KeyMap, key_map
from vnc.events import Event
from vnc.session import Frame

PREFIX = "gym-core."
DEFAULT_FPS = 60.0
CONSOLE_FPS = 60.0


class GymCore(Runtime):
    """One Gymnasium environment at its `render_fps`, one step a tick; keys as in `rewarder.runtimes.gym_keys`.

    An Atari game plays every frame of its console, 60 a second: how many to skip is the agent's business. Where the
    environment counts lives, they are told as `lives` in the info when an episode begins and when their number changes.
    """

    lockstep = True

    def __init__(self, env_id: str, *, fps: float | None = None, send_observation: bool = False) -> None:
        if not env_id.startswith(PREFIX):
            raise ValueError(f"a gym-core env_id is {PREFIX}<gymnasium id>, not {env_id!r}")
        self.env_ids = (env_id,)
        self._fps = fps
        self._send_observation = send_observation
        self._keys = HeldKeys()
        self._env: gymnasium.Env[Any, Any] | None = None
        self._map: KeyMap | None = None
        self._lives: object = None

    def open(self) -> None:
        """Make the environment and render once, to know the size of its frames.

        Raises:
            ValueError: there is none of this id, it has actions that cannot be typed, or does not render RGB frames.
        """
        self._env = env = _make(self.env_ids[0].removeprefix(PREFIX))
        self._map = key_map(env)
        self.fps = float(self._fps or _fps(env))
        self.inside = env.unwrapped
        if isinstance(env.observation_space, gymnasium.spaces.Box):
            self.observation_box = env.observation_space
        env.reset()
        self.height, self.width = _frame(env).shape[:2]

    def reset(self, env_id: str, seed: int | None) -> Tick:
        """Reset the environment, seeded if asked."""
        env, keys = self._opened()
        self._keys.clear()
        keys.reset()
        observation, info = env.reset(seed=seed)
        self._lives = None
        return Tick(frame=_frame(env), observation=self._shown(observation), info=self._news(info))

    def tick(self, events: Sequence[Event]) -> Tick:
        """Take one step with the action of the keys held."""
        env, keys = self._opened()
        observation, reward, terminated, truncated, info = env.step(keys.action(self._keys.tick(events)))
        return Tick(
            frame=_frame(env),
            reward=float(reward),
            done=bool(terminated or truncated),
            truncated=bool(truncated and not terminated),
            observation=self._shown(observation),
            info=self._news(info),
        )

    def close(self) -> None:
        """Close the environment."""
        if self._env is not None:
            self._env.close()

    def _opened(self) -> tuple[gymnasium.Env[Any, Any], KeyMap]:
        if self._env is None or self._map is None:
            raise RuntimeError("open() comes before reset() and tick()")
        return self._env, self._map

    def _shown(self, observation: object) -> object | None:
        return _jsonable(observation) if self._send_observation or self.tells_observation else None

    def _news(self, info: Mapping[str, Any]) -> dict[str, object]:
        lives = info.get("lives")
        if lives is None or lives == self._lives:
            return {}
        self._lives = lives
        return {"lives": int(lives)}


def _make(gymnasium_id: str) -> gymnasium.Env[Any, Any]:
    # Environments draw with SDL: into memory, without looking for a display or a sound card.
    os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
    os.environ.setdefault("SDL_AUDIODRIVER", "dummy")
    if gymnasium_id not in gymnasium.registry and importlib.util.find_spec("ale_py"):
        gymnasium.register_envs(importlib.import_module("ale_py"))
    try:
        every_frame = {"frameskip": 1} if _is_atari(gymnasium.spec(gymnasium_id)) else {}
        return gymnasium.make(gymnasium_id, render_mode="rgb_array", disable_env_checker=True, **every_frame)
    except gymnasium.error.Error as error:
        raise ValueError(f"{gymnasium_id}: {error}") from error


def _is_atari(spec: EnvSpec | None) -> bool:
    return spec is not None and "frameskip" in spec.kwargs


def _fps(env: gymnasium.Env[Any, Any]) -> float:
    own: float | None = CONSOLE_FPS if _is_atari(env.spec) else env.metadata.get("render_fps")
    return own or DEFAULT_FPS


def _frame(env: gymnasium.Env[Any, Any]) -> Frame:
    frame = np.asarray(env.render())
    if frame.dtype != np.uint8 or frame.ndim != 3 or frame.shape[2] != 3:
        raise ValueError(f"render() gave {frame.dtype} {frame.shape}, not uint8 (height, width, 3)")
    return frame


def _jsonable(value: object) -> object:
    """Return an observation of any space as what JSON can say."""
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    if isinstance(value, dict):
        return {str(key): _jsonable(inner) for key, inner in value.items()}
    if isinstance(value, (tuple, list)):
        return [_jsonable(inner) for inner in value]
    return value
