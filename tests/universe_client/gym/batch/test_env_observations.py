"""Environment observations as the observations of Gymnasium's environments."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest
from gymnasium.spaces import Box
from gymnasium.utils.env_checker import check_env

from rewarder.sdk.runtime import Tick
from tests.support.remotes.agent import wait_until
from tests.support.remotes.gym import open_gym
from tests.support.remotes.served import Counting, serve_runtime
from universe_client import ConfigError, GymVectorEnv
from universe_client.errors import Unsupported

__all__ = ["open_gym", "serve_runtime"]
CARTPOLE = "gym-core.CartPole-v1"


class Telling(Counting):
    """Observes (tick, episode), when it is asked to."""

    def __init__(self, last: int = 1000, high: float = 1000.0) -> None:
        super().__init__(last)
        self.env_observation_space = Box(0, high, (2,), np.float32)

    def reset(self, env_id, seed):
        return self.told(super().reset(env_id, seed))

    def tick(self, events):
        return self.told(super().tick(events))

    def told(self, tick):
        observation = [self.ticks, self.episodes] if self.env_observation_wanted else None
        return Tick(tick.frame, tick.reward, tick.done, env_observation=observation)


def test_in_lockstep_states_are_those_of_the_tick(serve_runtime, open_gym):
    env = open_gym(
        serve_runtime(Telling(last=3)),
        serve_runtime(Telling()),
        mode="lockstep",
        observation="env_observation",
    )
    assert env.single_observation_space == Box(0, 1000, (2,), np.float32)
    observations, _ = env.reset(seed=1)
    seen = [observations]
    for _ in range(5):
        observations, *_ = env.step(np.zeros(2, np.int64))
        assert observations in env.observation_space
        seen.append(observations)
    assert [int(rows[0, 0]) for rows in seen] == [0, 1, 2, 3, 0, 1], "with the last one of each episode"
    assert [int(rows[1, 0]) for rows in seen] == [0, 1, 2, 3, 4, 5]
    assert env.render()[0].shape == (16, 24, 3), "pixels are there, too"


def test_in_real_time_a_row_has_the_newest_state(serve_runtime, open_gym):
    env = open_gym(serve_runtime(Telling()), observation="env_observation")
    first, _ = env.reset(seed=1)
    wait_until(lambda: env.step(np.zeros(1, np.int64))[0][0, 0] > first[0, 0] + 5, what="ticks")


def test_states_are_cartpoles_own():
    """With the same seed and actions, the remote sends what Gymnasium computes in this process."""
    near = gymnasium.make("CartPole-v1")
    far = GymVectorEnv(CARTPOLE, mode="lockstep", observation="env_observation", actions=["Left", "Right"])
    try:
        assert far.single_observation_space == near.observation_space
        ours, _ = far.reset(seed=4)
        theirs, _ = near.reset(seed=4)
        assert (ours[0] == theirs).all()
        for action in (0, 1, 1, 0, 1, 0, 0, 1, 1, 1):
            ours, rewards, *_ = far.step(np.array([action]))
            theirs, reward, *_ = near.step(action)
            assert (ours[0] == theirs).all() and rewards[0] == reward
    finally:
        far.close()
        near.close()


@pytest.mark.filterwarnings("ignore:.*A Box observation space m.*infinity")  # so it is in Gymnasium
def test_gymnasiums_checker_passes_on_states():
    env = gymnasium.make(
        "universe/Remote-v0",
        env_id=CARTPOLE,
        mode="lockstep",
        observation="env_observation",
        actions=["Left", "Right"],
    )
    try:
        check_env(env.unwrapped, skip_close_check=True)
    finally:
        env.close()


def test_a_remote_that_tells_none_is_named(scripted, open_gym):
    with pytest.raises(Unsupported, match=r"remote 0 .* does not send environment observations"):
        open_gym(scripted(), observation="env_observation")


def test_different_spaces_are_named(serve_runtime, open_gym):
    with pytest.raises(ConfigError, match=r"remote 1 .* has Box\(0.0, 5.0"):
        open_gym(serve_runtime(Telling()), serve_runtime(Telling(high=5.0)), observation="env_observation")


def test_an_observation_outside_its_shape_loses_the_remote(serve_runtime, open_gym):
    class Wrong(Telling):
        def told(self, tick):
            return Tick(tick.frame, tick.reward, tick.done, env_observation=[1.0, 2.0, 3.0])

    env = open_gym(serve_runtime(Wrong()), observation="env_observation", reset_mode="mask")
    env.reset()
    wait_until(
        lambda: "an observation that is not in Box" in str(env.step(np.zeros(1, np.int64))[4]["error"][0]),
        what="the loss",
    )


def test_an_unknown_kind_is_named(scripted, open_gym):
    with pytest.raises(ConfigError, match="observation='sound'"):
        open_gym(scripted(), observation="sound")
