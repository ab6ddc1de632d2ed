"""A wrapper around an environment of another interface raises an error that names the right one."""

from __future__ import annotations

import tempfile
from typing import Any

import gymnasium
import pytest

import wrappers
from tests.support.remotes.gym import open_gym
from universe_client import ConfigError, GymEnv
from universe_client.adapters.rlpyt import EnvInfoWrapper, GymEnvWrapper
from wrappers import GymWrapper, Joint, Throttle, Unvectorize, Vectorize, Wrapper

__all__ = ["open_gym"]

ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "Crop": (0, 0, 8, 8),
    "RandomEnv": (["a"],),
    "Resize": (8, 8),
    "TimeLimit": (9,),
}
ALL = {name: getattr(wrappers, name) for name in wrappers.__all__}
UNIVERSES = {name: kind for name, kind in ALL.items() if issubclass(kind, Wrapper)}
GYMNASIUMS = {name: kind for name, kind in ALL.items() if issubclass(kind, GymWrapper)}


def wrap(name: str, env: Any) -> Any:
    arguments = (tempfile.mkdtemp(),) if name == "Record" else ARGUMENTS.get(name, ())
    return ALL[name]([env] if name == "Joint" else env, *arguments)


def test_every_wrapper_is_of_one_face():
    assert UNIVERSES.keys() | GYMNASIUMS.keys() == ALL.keys()


@pytest.mark.parametrize("name", UNIVERSES)
def test_around_gymnasiums_vector_it_is_refused_and_what_does_the_same_is_named(name, scripted, open_gym):
    env = open_gym(scripted())
    with pytest.raises(
        ConfigError, match=rf"^{name} is for universe_client.VectorEnv, not for GymVectorEnv: .*use \S"
    ):
        wrap(name, env)
    with pytest.raises(ConfigError, match=rf"^{name} is for universe_client.VectorEnv"):
        wrap(name, GymWrapper(env))


@pytest.mark.parametrize("name", UNIVERSES)
def test_around_gymnasiums_single_face_it_is_refused(name, scripted, open_gym):
    env = open_gym(scripted(), face=GymEnv)
    with pytest.raises(ConfigError, match="not for GymEnv: on Gymnasium's faces use"):
        wrap(name, env)


@pytest.mark.parametrize("name", GYMNASIUMS)
def test_around_universes_face_or_a_single_environment_it_is_refused(name, scripted, open_env):
    with pytest.raises(
        ConfigError, match=rf"^{name} is for universe_client.GymVectorEnv .*not for VectorEnv"
    ):
        wrap(name, open_env(scripted()))
    with pytest.raises(ConfigError, match=rf"^{name} is for .*gymnasium.make_vec.*, not for CartPoleEnv"):
        wrap(name, gymnasium.make("CartPole-v1").unwrapped)


def test_throttle_names_step_rate(scripted, open_gym):
    with pytest.raises(ConfigError, match="on Gymnasium's faces use step_rate="):
        Throttle(open_gym(scripted()))


LISTS = sorted(name for name, kind in UNIVERSES.items() if kind.takes_lists)


@pytest.mark.parametrize("name", LISTS)
def test_what_needs_lists_is_refused_outside_of_unvectorize(name, scripted, open_env):
    single = Unvectorize(open_env(scripted()))
    with pytest.raises(ConfigError, match=f"{name} needs lists: put it inside of Unvectorize"):
        wrap(name, Wrapper(single))
    assert wrap(name, Vectorize(single)).n == 1


def test_vectorize_needs_single_values(scripted, open_env):
    with pytest.raises(ConfigError, match="Vectorize needs single values: put it around Unvectorize"):
        Vectorize(Throttle(open_env(scripted())))


def test_joint_checks_every_one(scripted, open_env, open_gym):
    with pytest.raises(ConfigError, match="not for GymVectorEnv"):
        Joint([open_env(scripted()), open_gym(scripted())])


@pytest.mark.parametrize("adapter", [GymEnvWrapper, lambda env: EnvInfoWrapper(env, {})])
def test_rlpyts_adapters_take_single_environments(adapter, scripted, open_gym, open_env):
    for env in (open_gym(scripted()), open_env(scripted())):
        with pytest.raises(ConfigError, match=r"is for universe_client.GymEnv \(gymnasium.make\), not for"):
            adapter(env)
