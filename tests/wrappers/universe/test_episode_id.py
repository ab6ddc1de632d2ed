"""EpisodeID numbers episodes independently of their speed and plays exactly `limit` of them."""

from __future__ import annotations

import pytest

from tests.support.remotes.agent import one_step, running, until, until_running
from universe_client import ConfigError
from wrappers import BlockingReset, EpisodeID

PRESS = [("KeyEvent", "a", True)]


def ids(step):
    return [info["vectorized.episode_id"] for info in step.info_n]


def finish(env, remote, index, reward=0.0):
    """End the episode of one remote and return the step that reports it."""
    remote.script(lambda: (remote.finish(reward), remote.next_episode()))
    return until(env, lambda step: step.done_n[index])[-1]


def test_each_remote_counts_in_steps_of_n(scripted, open_env):
    one, other = scripted(), scripted()
    env = EpisodeID(BlockingReset(open_env(one, other)))
    env.reset()
    assert ids(one_step(env)) == [0, 1]
    ended = finish(env, other, 1)
    assert ids(ended) == [0, 1], "the results are the ended episode's"
    assert ids(one_step(env)) == [0, 3]
    finish(env, other, 1)
    _, _, _, info = env.step([[], []])
    assert info["vectorized.done_to"] == -1
    finish(env, one, 0)
    _, _, _, info = env.step([[], []])
    assert info["vectorized.done_to"] == 1
    env.reset(mask=[True, False])
    assert ids(one_step(env)) == [2, 5]
    env.reset()
    assert ids(one_step(env)) == [0, 1]


def test_a_limit_is_kept_whoever_is_fast(scripted, open_env):
    one, other = scripted(), scripted()
    env = EpisodeID(open_env(one, other), limit=3)
    env.reset()
    until_running(env)
    assert finish(env, other, 1).observation_n[1] is None
    assert not env.finished
    other.reward(100.0)
    other.paint(50)
    one.reward(1.0)
    seen = until(env, lambda step: step.reward_n[0])
    assert all(step.observation_n[1] is None and not step.reward_n[1] for step in seen)
    assert ids(seen[-1]) == [0, None]
    one_step(env, [PRESS, PRESS])
    one.wait_for_events(1)
    assert other.events == []
    finish(env, one, 0)
    until(env, lambda step: step.observation_n[0] is not None)
    finish(env, one, 0)
    assert env.finished
    assert env.step([[], []])[3]["vectorized.done_to"] >= 2


def test_remotes_beyond_the_limit_never_play(scripted, open_env):
    env = EpisodeID(open_env(scripted(), scripted()), limit=1)
    env.reset()
    step = until(env, lambda step: step.observation_n[0] is not None)[-1]
    assert not running(step)
    with pytest.raises(ConfigError, match="limit=0"):
        EpisodeID(env, limit=0)
