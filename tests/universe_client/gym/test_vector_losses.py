"""Remotes that the vector face has lost, or that have no rewarder."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.remotes.agent import set_reset_timeout
from tests.support.remotes.gym import (
    any_done,
    noop,
    open_gym,
    step_until,
    three,
    values,
)
from tests.support.timing import best_of
from universe_client.errors import PeerLost
from vnc.events import KeyEvent

__all__ = ["open_gym", "three"]
RIGHT = 0xFF53
RIGHT_ACTION = 2  # of the default key sets


def test_v9_a_lost_remote_is_truncated_and_the_next_step_waits_for_it(three, open_gym):
    env = open_gym(*three)
    env.reset()
    three[1].stop()
    result = step_until(env, any_done)[-1]
    assert result[3].tolist() == [False, True, False]
    assert result[4]["end_reason"][1] == "lost"
    assert result[4]["error"][1]
    assert result[4]["_error"].tolist() == [False, True, False]
    three[1].start()
    observations, _, terminations, truncations, _ = env.step(noop(env))
    assert values(observations)[1] == three[1].episode
    assert not (terminations | truncations).any()


def test_v9_errors_are_raised_if_so_wished(three, open_gym):
    env = open_gym(*three, on_error="raise")
    env.reset()
    three[1].stop()
    with pytest.raises(PeerLost, match="remote 1 "):
        step_until(env, any_done)


def test_a_remote_that_stays_away_does_not_stop_the_others(three, open_gym):
    env = open_gym(*three)
    env.reset()
    set_reset_timeout(env.core, 2)
    three[1].stop()
    step_until(env, any_done)
    assert env.step(noop(env))[4]["resetting"].tolist() == [False, True, False]

    def rewarded() -> None:
        three[0].reward(1.0)
        step_until(env, lambda result: result[1].any())

    assert best_of(5, rewarded, 1.5) < 1.5, "it was waited for more than once"
    three[1].start()
    step_until(env, lambda result: not result[4]["resetting"].any())


def test_a_remote_without_a_rewarder_has_rewards_of_zero_and_ends_by_the_limit(scripted, open_gym):
    remote = scripted(has_rewarder=False)
    env = open_gym(remote, max_episode_steps=3)
    env.reset()
    results = [env.step(np.array([RIGHT_ACTION])) for _ in range(4)]
    assert [bool(result[3][0]) for result in results] == [False, False, True, False]
    assert not any(result[1][0] for result in results)
    assert results[2][4]["end_reason"][0] == "time_limit"
    assert remote.wait_for_events(1)[0] == KeyEvent(RIGHT, True)
