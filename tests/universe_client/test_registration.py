"""The ids under which Gymnasium makes our environments, on the remotes that we ship."""

from __future__ import annotations

import time

import gymnasium
import numpy as np
import pytest
from gymnasium.envs.registration import EnvSpec
from gymnasium.vector import AsyncVectorEnv, SyncVectorEnv

from tests.support.fixtures import provider
from tests.support.remotes.gym import QUICKLY
from tests.support.remotes.remote import HEIGHT, WIDTH
from universe_client import GymEnv, GymVectorEnv
from universe_client.gym.check import check_vector_env
from universe_client.registration import GYMNASIUM_IDS, register_environments

SCREEN = (240, 320, 3)


def test_every_id_has_both_entry_points_and_is_nondeterministic():
    for name in GYMNASIUM_IDS:
        spec = gymnasium.spec(name)
        assert spec.nondeterministic
        assert spec.entry_point == "universe_client.gym.env:GymEnv"
        assert spec.vector_entry_point == "universe_client.gym.vector_env:GymVectorEnv"
        assert EnvSpec.from_json(spec.to_json()) == spec


def test_registering_twice_is_harmless():
    before = dict(gymnasium.registry)
    register_environments()
    assert gymnasium.registry == before


def test_v1_make_vec_makes_a_vector_of_shipped_remotes():
    env = gymnasium.make_vec("universe/NeonDrive-v0", num_envs=2, step_rate=60, max_episode_steps=25)
    try:
        assert isinstance(env, GymVectorEnv)
        assert env.spec.id == "universe/NeonDrive-v0"
        assert env.num_envs == 2
        assert env.observation_space.shape == (2, *SCREEN)
        first, _ = env.reset(seed=1)
        for _ in range(10):
            later, *_ = env.step(env.action_space.sample())
        assert (first != later).any(axis=(1, 2, 3)).all(), "the world goes on"
        check_vector_env(env, steps=60)
    finally:
        env.close()


def test_v1_make_makes_one_and_stock_wrappers_go_around_it():
    env = gymnasium.make("universe/NeonDrive-v0", max_episode_steps=10, step_rate=60)
    try:
        assert isinstance(env.unwrapped, GymEnv)
        observation, _ = env.reset(seed=1)
        assert observation.shape == SCREEN
        truncated = [env.step(env.action_space.sample())[3] for _ in range(10)]
        assert truncated == [False] * 9 + [True]
    finally:
        env.close()


@pytest.mark.parametrize(("mode", "kind"), [("sync", SyncVectorEnv), ("async", AsyncVectorEnv)])
def test_v1_the_single_env_works_in_stock_vector_envs(mode, kind):
    options = {"context": "spawn"} if mode == "async" else {}
    envs = gymnasium.make_vec(
        "universe/NeonDrive-v0", num_envs=2, vectorization_mode=mode, vector_kwargs=options, step_rate=60
    )
    try:
        assert type(envs) is kind
        observations, _ = envs.reset(seed=1)
        assert observations in envs.observation_space
        for _ in range(5):
            observations, rewards, *_ = envs.step(envs.action_space.sample())
        assert observations in envs.observation_space
        assert rewards.shape == (2,)
    finally:
        envs.close()


def test_v3_the_generic_id_takes_any_remotes(scripted):
    remotes = [scripted(), scripted()]
    env = gymnasium.make_vec("universe/Remote-v0", remotes=provider(*remotes), actions=["a", "b"], **QUICKLY)
    assert env.num_envs == 2
    assert env.single_action_space.n == 2
    observations, _ = env.reset()
    assert observations.shape == (2, HEIGHT, WIDTH, 3)
    env.close()
    env = gymnasium.make("universe/Remote-v0", remotes=provider(remotes[0]), **QUICKLY)
    env.reset()
    env.close()


def test_the_generic_id_plays_any_env_id():
    env = gymnasium.make_vec(
        "universe/Remote-v0", num_envs=1, remotes="embedded", env_id="builtin.NeonDrive-v0"
    )
    assert env.observation_space.shape == (1, *SCREEN)
    assert env.get_attr("env_id") == ("builtin.NeonDrive-v0",)
    env.close()


def test_64_screens_are_made_at_once_when_their_size_is_known():
    nobody = "vnc://" + ",".join(["127.0.0.1:1"] * 64)
    began = time.monotonic()
    env = gymnasium.make_vec("universe/Remote-v0", remotes=nobody, screen_size=(1024, 768), reset_mode="mask")
    assert time.monotonic() - began < 30
    assert env.observation_space.shape == (64, 768, 1024, 3)
    assert np.shares_memory(env.core.remotes[63].view.frame, env.core.remotes[63].view.frame.base)
    env.close()
