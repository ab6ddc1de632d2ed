"""`gym-core.<gymnasium id>`: a Gymnasium environment that renders, in real time, with the keyboard as its actions.

The id is one of Gymnasium's, such as `CartPole-v1` or `ALE/Pong-v5`; or `module:My-v0`, whose module is imported first;
or `module:MyEnv`, a class or function of that module which makes the environment. Clients may ask for the env id that
the remote was started with only, so that no client chooses what is imported.
"""

from __future__ import annotations

import importlib
import importlib.util
import logging
import os
from collections.abc import Callable, Mapping, Sequence
from operator import methodcaller
from typing import Any

import gymnasium
import msgspec
import numpy as np
from gymnasium.envs.registration import EnvSpec

from rewarder.runtimes.gym.keys import KeyMap, key_map
from rewarder.sdk.environment import Runtime, Tick
from rewarder.sdk.keys import HeldKeys
from vnc.events import Event
from vnc.session import Frame

PREFIX = "gym-core."
DEFAULT_FPS = 60.0
CONSOLE_FPS = 60.0
MAX_INFO = 16 * 1024
"""Bytes of one value of an info as JSON; longer values are left out."""
_LIVES = "lives"
_RESERVED = "truncated"
"""A key that the protocol uses in the info of an episode's end."""
_ATARI = "ale_py"
_SMALL = ("gymnasium.envs.classic_control.", "gymnasium.envs.toy_text.")
_BY_PYGAME = ("gymnasium.envs.box2d", "gymnasium.envs.classic_control", "gymnasium.envs.toy_text")
_PRELOADED = {_ATARI: ()} | dict.fromkeys(
    _BY_PYGAME, ("pygame", "pygame.gfxdraw", "rewarder.runtimes.gym.surfaces")
)
"""Packages of environments that start no threads when they are imported, and what else their environments import."""

log = logging.getLogger(__name__)


class GymCore(Runtime):
    """A Gymnasium environment at its `render_fps`, one step per tick; `rewarder.runtimes.gym.keys` maps the keys.

    Atari games run every frame of the console, 60 per second; agents skip frames themselves. The environment's info is
    sent with each tick, except values that JSON does not have or that are longer than `MAX_INFO`. `lives` is sent at
    the beginning of an episode and when it changes. Of Atari's infos, only `lives` is sent.
    """

    lockstep = True

    def __init__(self, env_id: str, *, fps: float | None = None, send_env_observation: bool = False) -> None:
        if not env_id.startswith(PREFIX):
            raise ValueError(f"invalid env_id {env_id!r}, it must be {PREFIX}<gymnasium id>")
        self.env_ids = (env_id,)
        self.quick = _is_quick(env_id.removeprefix(PREFIX))
        self._fps = fps
        self._send_env_observation = send_env_observation
        self._keys = HeldKeys()
        self._env: gymnasium.Env[Any, Any] | None = None
        self._map: KeyMap | None = None
        self._lives: object = None
        self._is_atari = False
        self._observes_screen = False  # the observation is the rendered frame
        self._render: Callable[[gymnasium.Env[Any, Any]], Any] = methodcaller("render")
        self._left_out: set[str] = set()

    def open(self) -> None:
        """Make the environment, and render a first frame for the screen's size.

        Raises:
            ValueError: the id is unknown, a package is missing, the action space has no keyboard mapping, or the
                environment does not render RGB frames.
        """
        gymnasium_id = self.env_ids[0].removeprefix(PREFIX)
        try:
            self._open(_make(gymnasium_id))
        except gymnasium.error.DependencyNotInstalled as error:
            raise ValueError(f"{gymnasium_id}: {_missing(error)}") from error

    def _open(self, env: gymnasium.Env[Any, Any]) -> None:
        self._env = env
        self._is_atari = _is_atari(env.spec)
        self._map = key_map(env)
        self.fps = float(self._fps or _fps(env))
        self.inside = env.unwrapped
        if isinstance(env.observation_space, gymnasium.spaces.Box):
            self.env_observation_space = env.observation_space
        observation, _ = env.reset()
        frame = self._rendered(env)
        self.height, self.width = frame.shape[:2]
        made_by = "" if env.spec is None or env.spec.additional_wrappers else str(env.spec.entry_point)
        self._observes_screen = made_by.startswith(_ATARI) and np.array_equal(observation, frame)
        if made_by.startswith(_BY_PYGAME):
            from rewarder.runtimes.gym import surfaces  # pygame is installed, because there was a frame

            self._render = surfaces.render

    def reset(self, env_id: str, seed: int | None) -> Tick:
        """Reset the environment, seeded if asked."""
        env, keys = self._opened()
        self._keys.clear()
        keys.reset()
        observation, info = env.reset(seed=seed)
        self._lives = None
        return Tick(
            frame=self._rendered(env), env_observation=self._shown(observation), info=self._info(info)
        )

    def tick(self, events: Sequence[Event]) -> Tick:
        """Take one step with the action of the keys that are down."""
        env, keys = self._opened()
        action = keys.action(self._keys.tick(events))
        step = env.step if self._is_looked_at else self._step_unseen
        observation, reward, terminated, truncated, info = step(action)
        done = bool(terminated or truncated)
        return Tick(
            frame=self._frame(env, observation) if self.frame_wanted or done else None,
            reward=float(reward),
            done=done,
            truncated=bool(truncated and not terminated),
            env_observation=self._shown(observation),
            info=self._info(info),
        )

    def close(self) -> None:
        """Close the environment."""
        if self._env is not None:
            self._env.close()

    @property
    def _is_looked_at(self) -> bool:
        return self.frame_wanted or not self._observes_screen or self._sends_observations

    def _step_unseen(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Step a console whose screen nobody wants: to convert it takes a quarter of a step."""
        env, _ = self._opened()
        console: Any = env.unwrapped
        console._obs_type = "ram"
        try:
            return env.step(action)
        finally:
            console._obs_type = "rgb"

    def _frame(self, env: gymnasium.Env[Any, Any], observation: Any) -> Frame:
        return observation if self._observes_screen and self._is_looked_at else self._rendered(env)

    def _rendered(self, env: gymnasium.Env[Any, Any]) -> Frame:
        frame = np.asarray(self._render(env))
        if frame.dtype != np.uint8 or frame.ndim != 3 or frame.shape[2] != 3:
            raise ValueError(
                f"render() returned {frame.dtype} {frame.shape}, it must return uint8 (height, width, 3)"
            )
        return frame

    def _opened(self) -> tuple[gymnasium.Env[Any, Any], KeyMap]:
        if self._env is None or self._map is None:
            raise RuntimeError("open() comes before reset() and tick()")
        return self._env, self._map

    def _shown(self, observation: object) -> object | None:
        return _jsonable(observation) if self._sends_observations else None

    @property
    def _sends_observations(self) -> bool:
        return self._send_env_observation or self.env_observation_wanted

    def _info(self, info: Mapping[str, Any]) -> dict[str, object]:
        lives, sent = _jsonable(info.get(_LIVES)), {}
        if not self._is_atari:  # its other infos are frame counters, which change with every frame
            sent = {str(key): _jsonable(info[key]) for key in info if key not in (_RESERVED, _LIVES)}
        if lives is not None and lives != self._lives:
            self._lives = sent[_LIVES] = lives
        return {key: value for key, value in sent.items() if self._can_be_sent(key, value)}

    def _can_be_sent(self, key: str, value: object) -> bool:
        try:
            size = len(msgspec.json.encode(value))
        except (TypeError, ValueError, RecursionError) as error:
            why = str(error)
        else:
            if size <= MAX_INFO:
                return True
            why = f"{size} bytes, the limit is {MAX_INFO}"
        if key not in self._left_out:
            self._left_out.add(key)
            log.warning("! info %.64r is left out: %s", key, why)
        return False


def preload_env(env_id: str) -> None:
    """Import what an environment of Gymnasium or Atari needs, without creating it.

    Raises:
        ImportError: something is not installed.
    """
    gymnasium_id = env_id.removeprefix(PREFIX)
    if ":" in gymnasium_id:
        return
    try:
        module = str(_spec(gymnasium_id).entry_point).partition(":")[0]
    except gymnasium.error.Error:
        return
    for package, others in _PRELOADED.items():
        if module.startswith(f"{package}."):
            for name in (module, *others):
                importlib.import_module(name)


def _make(gymnasium_id: str) -> gymnasium.Env[Any, Any]:
    # Environments that draw with SDL need no display and no sound card then.
    os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
    os.environ.setdefault("SDL_AUDIODRIVER", "dummy")
    try:
        spec = _spec(gymnasium_id)
        every_frame = {"frameskip": 1} if _is_atari(spec) else {}
        return gymnasium.make(spec, render_mode="rgb_array", disable_env_checker=True, **every_frame)
    except gymnasium.error.DependencyNotInstalled:
        raise
    except gymnasium.error.Error as error:
        raise ValueError(f"{gymnasium_id}: {error}") from error


def _spec(gymnasium_id: str) -> EnvSpec:
    module_name, separator, name = gymnasium_id.rpartition(":")
    if not separator:
        return gymnasium.spec(_registered(gymnasium_id))
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module_name}.".startswith(f"{error.name}."):
            raise
        raise ValueError(
            f"{gymnasium_id}: no module {error.name!r}; add its directory to PYTHONPATH"
        ) from error
    if name not in gymnasium.registry and callable(getattr(module, name, None)):
        return EnvSpec(id=name, entry_point=f"{module_name}:{name}")
    return gymnasium.spec(name)


def _registered(gymnasium_id: str) -> str:
    """Return the id; register Atari's games first if they are installed."""
    if gymnasium_id not in gymnasium.registry:
        if importlib.util.find_spec(_ATARI):
            gymnasium.register_envs(importlib.import_module(_ATARI))
        elif gymnasium_id.startswith("ALE/") or "NoFrameskip-v" in gymnasium_id:
            raise gymnasium.error.DependencyNotInstalled("ale-py is not installed")
    return gymnasium_id


def _missing(error: gymnasium.error.DependencyNotInstalled) -> str:
    """Return in one line which package is missing, and the extra that installs it, if any."""
    what = " ".join(str(error).split())
    for package, extra in (("ale-py", "atari"), ("pygame", "gym-core")):
        if package in what:
            return f"{package} is not installed: pip install '.[{extra}]', in a checkout of universe-client"
    return what


def _is_atari(spec: EnvSpec | None) -> bool:
    return spec is not None and str(spec.entry_point).startswith((f"{_ATARI}.", "shimmy.atari"))


def _is_quick(gymnasium_id: str) -> bool:
    """Return whether steps and frames are known to take at most a few milliseconds, without making the environment."""
    spec = gymnasium.registry.get(gymnasium_id)
    is_small = spec is not None and str(spec.entry_point).startswith(_SMALL)
    return is_small or gymnasium_id.startswith("ALE/") or "NoFrameskip-v" in gymnasium_id


def _fps(env: gymnasium.Env[Any, Any]) -> float:
    own: float | None = CONSOLE_FPS if _is_atari(env.spec) else env.metadata.get("render_fps")
    return own or DEFAULT_FPS


def _jsonable(value: object) -> object:
    """Return an observation of any space as a JSON value."""
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    if isinstance(value, dict):
        return {str(key): _jsonable(inner) for key, inner in value.items()}
    if isinstance(value, (tuple, list)):
        return [_jsonable(inner) for inner in value]
    return value
