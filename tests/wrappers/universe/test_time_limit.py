"""TimeLimit: each remote has its own count."""

from __future__ import annotations

import time

import numpy as np
import pytest

from tests.support.remotes.agent import one_step, running, until, until_running, wait_until
from tests.support.remotes.remote import by_hand
from universe_client import ConfigError
from wrappers import BlockingReset, TimeLimit


def test_an_episode_is_cut_after_its_seconds_and_the_remote_resets(scripted, open_env):
    remote = scripted()
    env = TimeLimit(open_env(remote), seconds=0.5)
    began = time.monotonic()
    env.reset()
    until_running(env)
    remote.reward(3.0)
    seen = until(env, lambda step: step.done)
    assert time.monotonic() - began >= 0.5
    last = seen[-1]
    assert (last.info["terminated"], last.info["truncated"]) == (False, True)
    assert last.info["end_reason"] == "time_limit"
    assert last.info["env_status.complete.episode_id"] == "1"
    assert sum(step.reward for step in seen) == 3.0
    after = until(env, running)
    assert after[-1].pixel == 2
    assert not any(step.done for step in after)
    assert remote.resets.qsize() == 2


def test_each_remote_has_its_own_clock(scripted, open_env):
    one, other = scripted(), scripted(on_reset=by_hand)
    env = TimeLimit(open_env(one, other), steps=5)
    env.reset()
    until(env, lambda step: step.observation_n[0] is not None)
    dones = [one_step(env).done_n for _ in range(5)]
    assert dones[-1] == [True, False]
    assert dones[:-1] == [[False, False]] * 4


@pytest.mark.parametrize("steps", [1, 2, 7])
def test_steps_are_counted_from_the_first_observation(scripted, open_env, steps):
    env = TimeLimit(BlockingReset(open_env(scripted())), steps=steps)
    env.reset()
    for _ in range(3):
        dones = [one_step(env).done for _ in range(steps)]
        assert dones == [False] * (steps - 1) + [True]


def test_an_episode_that_ends_by_itself_stops_the_clock(scripted, open_env):
    remote = scripted()
    env = TimeLimit(open_env(remote), steps=100)
    env.reset()
    until_running(env)
    remote.finish(1.0)
    last = until(env, lambda step: step.done)[-1]
    assert last.info["end_reason"] == "terminated"
    for _ in range(200):
        assert not one_step(env).done, "no episode is running"
    assert remote.resets.qsize() == 1


def test_a_limit_that_comes_with_the_episodes_own_end_does_not_cut_the_next(scripted, open_env):
    remote = scripted()
    inner = open_env(remote)
    env = TimeLimit(inner, steps=2)
    env.reset()
    until_running(env)
    one_step(env)
    remote.script(lambda: (remote.finish(1.0), remote.next_episode()))
    wait_until(lambda: str(inner.remotes[0].link.buffer.running) == "2")
    step = one_step(env)  # the limit and the episode's own end
    assert step.done
    assert step.info["end_reason"] == "terminated"
    assert until_running(env).pixel == 2
    assert remote.resets.qsize() == 1, "an episode that the agent had not seen was reset"


def test_a_reset_stops_the_clocks_of_its_mask(scripted, open_env):
    env = TimeLimit(open_env(scripted(), scripted()), steps=60)
    env.reset()
    until_running(env)
    for _ in range(30):
        one_step(env)
    env.reset(mask=np.array([False, True]))
    seen = [one_step(env)]
    while not seen[-1].done_n[0]:
        seen.append(one_step(env))
    assert len(seen) <= 30
    assert not any(step.done_n[1] for step in seen)


def test_a_vnc_only_remote_is_cut_too(scripted, open_env):
    env = TimeLimit(open_env(scripted(has_rewarder=False)), steps=2)
    env.reset()
    until_running(env)
    last = until(env, lambda step: step.done)[-1]
    assert last.info["truncated"]
    assert last.info["end_reason"] == "time_limit"
    assert last.reward is None
    until_running(env)


@pytest.mark.parametrize("limit", [{}, {"seconds": 0}, {"steps": 0}, {"seconds": 1, "steps": -1}])
def test_no_limit_or_none_that_can_be_is_refused(scripted, open_env, limit):
    with pytest.raises(ConfigError, match="TimeLimit"):
        TimeLimit(open_env(scripted()), **limit)
