"""The function that creates RLlib's environments; tests/rllib runs RLlib itself."""

from __future__ import annotations

import pytest

from universe_client import ConfigError, GymVectorEnv
from universe_client.adapters.rllib import env_creator
from universe_client.spaces.pixel_box import PixelBox
from wrappers import Grey

DRIVE = {"env_id": "builtin.NeonDrive-v0", "remotes": "embedded", "actions": [(), "Left", "Right"]}


def test_a_vector_of_as_many_remotes_as_rllib_asks_for_wrapped():
    config = DRIVE | {"wrap": Grey, "num_envs": 2}
    env = env_creator(config)
    try:
        assert (env.num_envs, env.single_observation_space) == (2, PixelBox((240, 320, 1)))
        assert env.single_action_space.n == 3
        env.reset(seed=1)
        assert len(env.step(env.action_space.sample())) == 5
        assert set(config) == {*DRIVE, "wrap", "num_envs"}, "RLlib's own stays as it is"
    finally:
        env.close()


def test_single_environments_are_refused():
    with pytest.raises(ConfigError, match="gym_env_vectorize_mode='vector_entry_point'"):
        env_creator(DRIVE)


def test_what_cannot_be_wrapped_is_closed():
    opened: list[GymVectorEnv] = []

    def wrap(env: GymVectorEnv) -> None:
        opened.append(env)
        raise LookupError

    with pytest.raises(LookupError):
        env_creator(DRIVE | {"num_envs": 1, "wrap": wrap})
    assert opened[0].core.closed
