"""A user's own Gymnasium environment as a remote: `gym-core.<module>:<id>`, found where the agent finds it."""

from __future__ import annotations

from tests.support.remotes.own_envs import own
from universe_client import GymEnv, GymVectorEnv, VectorEnv
from wrappers import BlockingReset

__all__ = ["own"]
OWN_ID = "gym-core.own_envs.inner:Mine-v3"


def test_it_is_played_and_its_info_arrives_under_remote_on_the_single_face(own):
    env = GymEnv(OWN_ID, mode="lockstep")
    try:
        observation, info = env.reset(seed=3)
        assert (observation.shape, info["remote.seed"]) == ((8, 8, 3), 3)
        _, reward, terminated, truncated, info = env.step(0)
        assert (reward, terminated, truncated) == (1.0, True, False)
        assert (info["remote.score"], info["remote.place"]) == (0.5, [1, 2])
        assert info["remote.nested"] == {"at": [3, None]}
        assert info["env_status.env_id"] == OWN_ID
    finally:
        env.close()


def test_its_info_arrives_under_remote_as_columns(own):
    with GymVectorEnv(OWN_ID, 2, mode="lockstep") as env:
        env.reset(seed=3)
        infos = env.step(env.action_space.sample())[4]
        assert infos["remote.score"].tolist() == [0.5, 0.5]
        assert infos["_remote.place"].tolist() == [True, True]


def test_its_info_arrives_under_remote_on_universes_face(own):
    with BlockingReset(VectorEnv(OWN_ID, 1, mode="lockstep")) as env:
        env.reset()
        info = env.step([[]])[3]["n"][0]
        assert (info["remote.score"], info["remote.frameskip"]) == (0.5, 2)
