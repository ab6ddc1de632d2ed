"""rlpyt's interface: each step is a namedtuple with constant fields, dtypes and shapes.

Names and behaviour are those of rlpyt's `rlpyt.envs.gym`. rlpyt itself is not needed.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import gymnasium
import numpy as np
from gymnasium.spaces import Box, Dict, Discrete, MultiBinary, MultiDiscrete
from numpy.typing import DTypeLike, NDArray

from universe_client.errors import ConfigError
from universe_client.gym.batch.infos import DTYPES

__all__ = ["EnvInfoWrapper", "EnvSpaces", "EnvStep", "GymEnvWrapper", "GymSpaceWrapper", "TrajInfo", "make"]

_BLANKS = {"b": False, "i": 0, "u": 0, "f": np.nan}
"""The value of a field without a value, by the kind of its dtype."""


class EnvStep(NamedTuple):
    """The result of a step.

    Attributes:
        observation: an array, or a namedtuple of arrays for a Dict space.
        reward: the reward, float32.
        done: whether the episode ended, terminated or truncated.
        env_info: a namedtuple with the same fields at every step.
    """

    observation: Any
    reward: np.float32
    done: bool
    env_info: Any


class EnvSpaces(NamedTuple):
    """The observation space and the action space of an environment."""

    observation: GymSpaceWrapper
    action: GymSpaceWrapper


class GymSpaceWrapper:
    """A Gymnasium space whose values are arrays, and namedtuples in place of dicts.

    Attributes:
        space: the Gymnasium space.
        dtype: the dtype of its arrays; a Dict space has none.
    """

    def __init__(
        self,
        space: gymnasium.Space[Any],
        null_value: float = 0,
        name: str = "space",
        force_float32: bool = True,
    ) -> None:
        """Wrap `space`.

        Args:
            space: a Box, Discrete, MultiBinary or MultiDiscrete, or a Dict of these.
            null_value: the value of every element of `null_value()`.
            name: the name of the namedtuple.
            force_float32: whether float64 becomes float32.

        Raises:
            ConfigError: `space` contains another space, such as Text.
        """
        self.space, self._null = space, null_value
        self._inner: dict[str, GymSpaceWrapper] = {}
        if isinstance(space, Dict):
            fields = {_field(key): inner for key, inner in space.items()}
            self._inner = {
                field: GymSpaceWrapper(inner, null_value, f"{name}_{field}", force_float32)
                for field, inner in fields.items()
            }
            self._keys = dict(zip(fields, space, strict=True))
            self._tuple = namedtuple(name, list(fields))  # type: ignore[misc]  # its fields are the space's
        elif isinstance(space, Box | Discrete | MultiBinary | MultiDiscrete):
            self.dtype = _narrow(space.dtype, force_float32)
        else:
            raise ConfigError(f"{name}: {space} is not a space of arrays")

    def sample(self) -> Any:
        """Return a random value in rlpyt's form."""
        return self.convert(self.space.sample())

    def null_value(self) -> Any:
        """Return the value that stands for no value: arrays filled with `null_value`."""
        if self._inner:
            return self._tuple(*(inner.null_value() for inner in self._inner.values()))
        return np.full(self.space.shape or (), self._null, self.dtype)

    def convert(self, value: Any) -> Any:
        """Return a value of the Gymnasium space in rlpyt's form: arrays, namedtuples instead of dicts."""
        if self._inner:
            return self._tuple(*(inner.convert(value[self._keys[f]]) for f, inner in self._inner.items()))
        return np.asarray(value, self.dtype)

    def revert(self, value: Any) -> Any:
        """Return a value in rlpyt's form as a value of the Gymnasium space."""
        if self._inner:
            return {self._keys[f]: inner.revert(getattr(value, f)) for f, inner in self._inner.items()}
        return np.asarray(value, self.space.dtype) if self.space.shape else self.space.dtype.type(value)  # type: ignore[union-attr]

    def __repr__(self) -> str:
        return f"GymSpaceWrapper({self.space})"


class GymEnvWrapper:
    """A `gymnasium.Env` with rlpyt's interface: `step` returns an `EnvStep`, `reset` an observation.

    The fields of `env_info` are the keys of the first step's info whose values are numbers or numeric arrays, with
    underscores in place of dots, and `timeout`, which is true when the episode was truncated. Keys that appear later
    are left out. A field without a value at a step is 0, False or NaN. Use `EnvInfoWrapper` for keys that the first
    step may lack.

    Attributes:
        env: the Gymnasium environment.
        action_space: a `GymSpaceWrapper`.
        observation_space: a `GymSpaceWrapper`.

    Example:
        env = GymEnvWrapper(gymnasium.make("universe/NeonDrive-v0", step_rate=15, max_episode_steps=500))
        observation = env.reset()
        observation, reward, done, env_info = env.step(env.action_space.sample())
        late, cut = env_info.reaction_time, env_info.timeout
    """

    def __init__(
        self,
        env: gymnasium.Env[Any, Any],
        act_null_value: float = 0,
        obs_null_value: float = 0,
        force_float32: bool = True,
    ) -> None:
        """Wrap `env`; `close` closes it.

        Args:
            env: a single environment whose spaces contain arrays, or Dicts of arrays.
            act_null_value: the value of every element of `action_space.null_value()`.
            obs_null_value: the same for `observation_space`.
            force_float32: whether float64 becomes float32, in spaces and infos.

        Raises:
            ConfigError: `env` is not a `gymnasium.Env`, or its spaces contain something else.
        """
        _check_single(type(self).__name__, env)
        self.env = env
        self.action_space = GymSpaceWrapper(env.action_space, act_null_value, "act", force_float32)
        self.observation_space = GymSpaceWrapper(env.observation_space, obs_null_value, "obs", force_float32)
        self._force_float32 = force_float32
        self._info: _Fields | None = None

    @property
    def spaces(self) -> EnvSpaces:
        """The observation space and the action space."""
        return EnvSpaces(self.observation_space, self.action_space)

    @property
    def horizon(self) -> int | None:
        """The number of steps after which an episode is truncated, or None if it is not known."""
        return None if self.env.spec is None else self.env.spec.max_episode_steps

    def reset(self) -> Any:
        """Begin an episode and return its first observation."""
        observation, _ = self.env.reset()
        return self.observation_space.convert(observation)

    def step(self, action: Any) -> EnvStep:
        """Take a step with an action in rlpyt's form, and return an `EnvStep`.

        Raises:
            ConfigError: a value of the info has another shape than at the first step, or the action is not in the
                space.
        """
        result = self.env.step(self.action_space.revert(action))
        observation, reward, terminated, truncated, info = result
        info = {**info, "timeout": bool(truncated)}
        if self._info is None:
            self._info = _Fields(info, self._force_float32)
        done = bool(terminated or truncated)
        return EnvStep(
            self.observation_space.convert(observation), np.float32(reward), done, self._info.fill(info)
        )

    def close(self) -> None:
        """Close the environment."""
        self.env.close()


class EnvInfoWrapper(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Adds the keys of `info_example` to every step's info, with the example's values where a step has none.

    Example:
        env = gymnasium.make("universe/Remote-v0", env_id="gym-core.ALE/Breakout-v5", step_rate=15)
        env = GymEnvWrapper(EnvInfoWrapper(env, {"remote.lives": 0}))
        env.reset()
        lives = env.step(env.action_space.sample()).env_info.remote_lives
    """

    def __init__(self, env: gymnasium.Env[Any, Any], info_example: Mapping[str, Any]) -> None:
        """Wrap `env`.

        Args:
            env: a single environment.
            info_example: numbers or arrays, by key, with the dtypes and shapes that the infos will have.

        Raises:
            ConfigError: `env` is not a `gymnasium.Env`.
        """
        _check_single(type(self).__name__, env)
        super().__init__(env)
        self._example = {key: np.asarray(value) for key, value in info_example.items()}

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Take a step and complete its info; see `gymnasium.Env.step`."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        for key, example in self._example.items():
            value = info.get(key)
            info[key] = example if value is None else np.asarray(value, example.dtype)
        return observation, reward, terminated, truncated, info


class TrajInfo(dict[str, float]):
    """The statistics of one episode: `Length` (steps), `Return`, `NonzeroRewards` and `DiscountedReturn`.

    It is a dict whose items are also attributes.

    Example:
        trajectory = TrajInfo()
        trajectory.step(observation, action, reward, done, None, env_info)
        if done:
            print(trajectory.Return, dict(trajectory))
    """

    discount: ClassVar[float] = 1.0
    """The discount per step of `DiscountedReturn`."""

    def __init__(self) -> None:
        super().__init__(Length=0, Return=0.0, NonzeroRewards=0, DiscountedReturn=0.0)

    def __getattr__(self, name: str) -> float:
        if name in self:
            return self[name]
        raise AttributeError(f"a TrajInfo has {', '.join(self)}, not {name!r}")

    def step(
        self, observation: Any, action: Any, reward: float, done: bool, agent_info: Any, env_info: Any
    ) -> None:
        """Add one step of the episode."""
        self["DiscountedReturn"] += self.discount ** self["Length"] * float(reward)
        self["Length"] += 1
        self["Return"] += float(reward)
        self["NonzeroRewards"] += reward != 0

    def terminate(self, observation: Any) -> TrajInfo:
        """Return the statistics of the finished episode."""
        return self


def make(*args: Any, info_example: Mapping[str, Any] | None = None, **kwargs: Any) -> GymEnvWrapper:
    """Create a Gymnasium environment and wrap it in `GymEnvWrapper`.

    Args:
        args: arguments of `gymnasium.make`.
        info_example: if not None, an `EnvInfoWrapper` with this example is added.
        kwargs: keyword arguments of `gymnasium.make`.
    """
    env: gymnasium.Env[Any, Any] = gymnasium.make(*args, **kwargs)
    return GymEnvWrapper(env if info_example is None else EnvInfoWrapper(env, info_example))


def _check_single(name: str, env: object) -> None:
    if not isinstance(env, gymnasium.Env):
        raise ConfigError(
            f"{name} is for universe_client.GymEnv (gymnasium.make), not for {type(env).__name__}"
        )


class _Fields:
    """The fields of `env_info`, taken from the first step's info."""

    def __init__(self, info: Mapping[str, Any], force_float32: bool) -> None:
        blanks = {key: _blank(key, value, force_float32) for key, value in info.items()}
        self._blanks = {key: blank for key, blank in blanks.items() if blank is not None}
        self._tuple = namedtuple("EnvInfo", [_field(key) for key in self._blanks])  # type: ignore[misc]

    def fill(self, info: Mapping[str, Any]) -> Any:
        """Return an info as a namedtuple."""
        return self._tuple(*(self._value(key, blank, info.get(key)) for key, blank in self._blanks.items()))

    def _value(self, key: str, blank: NDArray[Any], value: Any) -> NDArray[Any]:
        if value is None:
            return blank
        array = np.asarray(value, blank.dtype)
        if array.shape != blank.shape:
            raise ConfigError(
                f"info {key!r} has the shape {array.shape}, but had {blank.shape} at the first step"
            )
        return array


def _blank(key: str, value: Any, force_float32: bool) -> NDArray[Any] | None:
    """Return the value of a field that has no value, or None if `value` is not a number or a numeric array."""
    array = np.asarray(DTYPES.get(key, type(None))() if value is None else value)
    dtype = _narrow(DTYPES.get(key, array.dtype), force_float32)
    if dtype.kind not in _BLANKS:
        return None
    return np.full(array.shape, _BLANKS[dtype.kind], dtype)


def _narrow(dtype: DTypeLike, force_float32: bool) -> np.dtype[Any]:
    return np.dtype(np.float32) if force_float32 and np.dtype(dtype) == np.float64 else np.dtype(dtype)


def _field(key: str) -> str:
    return key.replace(".", "_")
