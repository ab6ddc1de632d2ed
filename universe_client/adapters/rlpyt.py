"""rlpyt's face: environments whose steps are namedtuples, with the same fields, dtypes and shapes every time.

It has the names and the ways of rlpyt's `envs.gym`, and needs no rlpyt.
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
from universe_client.gym.infos import DTYPES

__all__ = ["EnvInfoWrapper", "EnvSpaces", "EnvStep", "GymEnvWrapper", "GymSpaceWrapper", "TrajInfo", "make"]

_BLANKS = {"b": False, "i": 0, "u": 0, "f": np.nan}
"""What a field has when it is not known, by the kind of its dtype."""


class EnvStep(NamedTuple):
    """What a step returns."""

    observation: Any
    reward: np.float32
    done: bool
    env_info: Any


class EnvSpaces(NamedTuple):
    """The two spaces of an environment."""

    observation: GymSpaceWrapper
    action: GymSpaceWrapper


class GymSpaceWrapper:
    """A Gymnasium space of arrays, whose Dicts are namedtuples here.

    Attributes:
        space: Gymnasium's.
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
            space: of arrays or numbers, or a Dict of such spaces.
            null_value: what every number of `null_value()` is.
            name: of the namedtuple.
            force_float32: whether float64 becomes float32.

        Raises:
            ConfigError: there is something else in it, text for instance.
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
        """Return a random value, converted."""
        return self.convert(self.space.sample())

    def null_value(self) -> Any:
        """Return the value that stands for none."""
        if self._inner:
            return self._tuple(*(inner.null_value() for inner in self._inner.values()))
        return np.full(self.space.shape or (), self._null, self.dtype)

    def convert(self, value: Any) -> Any:
        """Return what is Gymnasium's as rlpyt's."""
        if self._inner:
            return self._tuple(*(inner.convert(value[self._keys[f]]) for f, inner in self._inner.items()))
        return np.asarray(value, self.dtype)

    def revert(self, value: Any) -> Any:
        """Return what is rlpyt's as Gymnasium's."""
        if self._inner:
            return {self._keys[f]: inner.revert(getattr(value, f)) for f, inner in self._inner.items()}
        return np.asarray(value, self.space.dtype) if self.space.shape else self.space.dtype.type(value)  # type: ignore[union-attr]

    def __repr__(self) -> str:
        return f"GymSpaceWrapper({self.space})"


class GymEnvWrapper:
    """A `gymnasium.Env` as rlpyt takes it: `step` returns an `EnvStep`, `reset` an observation.

    The fields of `env_info` are those that the first step's info has as numbers or arrays of them, dots being
    underscores, and `timeout`, which says that the episode was truncated. What comes later under another name is left
    out; what is not known at a step is 0, False or NaN. See `EnvInfoWrapper` for what does not come with every step.

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
        """Wrap `env`, and close it at the end.

        Args:
            env: of arrays, or Dicts of arrays.
            act_null_value, obs_null_value: what the spaces' `null_value()` is filled with.
            force_float32: whether float64 becomes float32, in spaces and infos.

        Raises:
            ConfigError: it is not a single environment of Gymnasium's, or has other spaces.
        """
        _check_single(type(self).__name__, env)
        self.env = env
        self.action_space = GymSpaceWrapper(env.action_space, act_null_value, "act", force_float32)
        self.observation_space = GymSpaceWrapper(env.observation_space, obs_null_value, "obs", force_float32)
        self._force_float32 = force_float32
        self._info: _Fields | None = None

    @property
    def spaces(self) -> EnvSpaces:
        """Both spaces."""
        return EnvSpaces(self.observation_space, self.action_space)

    @property
    def horizon(self) -> int | None:
        """Steps after which an episode is cut, if that is known."""
        return None if self.env.spec is None else self.env.spec.max_episode_steps

    def reset(self) -> Any:
        """Begin an episode; return its first observation."""
        observation, _ = self.env.reset()
        return self.observation_space.convert(observation)

    def step(self, action: Any) -> EnvStep:
        """Take a step.

        Raises:
            ConfigError: an info has another shape than at the first step.
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
    """Gives every step's info the keys of `info_example`, with its values where there are no others.

    Example:
        env = gymnasium.make("universe/Remote-v0", env_id="gym-core.ALE/Breakout-v5", step_rate=15)
        env = GymEnvWrapper(EnvInfoWrapper(env, {"remote.lives": 0}))
        env.reset()
        lives = env.step(env.action_space.sample()).env_info.remote_lives
    """

    def __init__(self, env: gymnasium.Env[Any, Any], info_example: Mapping[str, Any]) -> None:
        """Wrap `env`; the examples are numbers or arrays of the dtypes and shapes that the infos will have.

        Raises:
            ConfigError: `env` is not a single environment of Gymnasium's.
        """
        _check_single(type(self).__name__, env)
        super().__init__(env)
        self._example = {key: np.asarray(value) for key, value in info_example.items()}

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Step, and fill the info."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        for key, example in self._example.items():
            value = info.get(key)
            info[key] = example if value is None else np.asarray(value, example.dtype)
        return observation, reward, terminated, truncated, info


class TrajInfo(dict[str, float]):
    """The record of one episode, for the log: `Length`, `Return`, `NonzeroRewards` and `DiscountedReturn`.

    Example:
        trajectory = TrajInfo()
        trajectory.step(observation, action, reward, done, None, env_info)
        if done:
            print(trajectory.Return, dict(trajectory))
    """

    discount: ClassVar[float] = 1.0
    """Of `DiscountedReturn`, per step."""

    def __init__(self) -> None:
        super().__init__(Length=0, Return=0.0, NonzeroRewards=0, DiscountedReturn=0.0)

    def __getattr__(self, name: str) -> float:
        if name in self:
            return self[name]
        raise AttributeError(f"a trajectory has {', '.join(self)}, not {name!r}")

    def step(
        self, observation: Any, action: Any, reward: float, done: bool, agent_info: Any, env_info: Any
    ) -> None:
        """Count a step."""
        self["DiscountedReturn"] += self.discount ** self["Length"] * float(reward)
        self["Length"] += 1
        self["Return"] += float(reward)
        self["NonzeroRewards"] += reward != 0

    def terminate(self, observation: Any) -> TrajInfo:
        """Return the record, the episode being over."""
        return self


def make(*args: Any, info_example: Mapping[str, Any] | None = None, **kwargs: Any) -> GymEnvWrapper:
    """Return `gymnasium.make(*args, **kwargs)` wrapped, with an `EnvInfoWrapper` if there is an `info_example`."""
    env: gymnasium.Env[Any, Any] = gymnasium.make(*args, **kwargs)
    return GymEnvWrapper(env if info_example is None else EnvInfoWrapper(env, info_example))


def _check_single(name: str, env: object) -> None:
    if not isinstance(env, gymnasium.Env):
        raise ConfigError(
            f"{name} is for universe_client.GymEnv (gymnasium.make), not for {type(env).__name__}"
        )


class _Fields:
    """The fields of `env_info`, found once."""

    def __init__(self, info: Mapping[str, Any], force_float32: bool) -> None:
        blanks = {key: _blank(key, value, force_float32) for key, value in info.items()}
        self._blanks = {key: blank for key, blank in blanks.items() if blank is not None}
        self._tuple = namedtuple("EnvInfo", [_field(key) for key in self._blanks])  # type: ignore[misc]

    def fill(self, info: Mapping[str, Any]) -> Any:
        """Return the namedtuple of an info."""
        return self._tuple(*(self._value(key, blank, info.get(key)) for key, blank in self._blanks.items()))

    def _value(self, key: str, blank: NDArray[Any], value: Any) -> NDArray[Any]:
        if value is None:
            return blank
        array = np.asarray(value, blank.dtype)
        if array.shape != blank.shape:
            raise ConfigError(
                f"info {key!r} has the shape {array.shape}, and had {blank.shape} at the first step"
            )
        return array


def _blank(key: str, value: Any, force_float32: bool) -> NDArray[Any] | None:
    """Return what an info is while it is not known; None if it is not a number or an array of numbers."""
    array = np.asarray(DTYPES.get(key, type(None))() if value is None else value)
    dtype = _narrow(DTYPES.get(key, array.dtype), force_float32)
    if dtype.kind not in _BLANKS:
        return None
    return np.full(array.shape, _BLANKS[dtype.kind], dtype)


def _narrow(dtype: DTypeLike, force_float32: bool) -> np.dtype[Any]:
    return np.dtype(np.float32) if force_float32 and np.dtype(dtype) == np.float64 else np.dtype(dtype)


def _field(key: str) -> str:
    return key.replace(".", "_")
