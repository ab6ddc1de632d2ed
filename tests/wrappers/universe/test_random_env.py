"""RandomEnv draws an environment for each episode."""

from __future__ import annotations

import pytest

import universe_client
from tests.support.remotes.agent import is_done, one_step, running, until
from universe_client import ConfigError
from wrappers import BlockingReset, RandomEnv

GAMES = ["test.One-v0", "test.Two-v0", "test.Three-v0"]


def test_every_episode_asks_for_one_that_was_drawn_for_it(scripted, open_env):
    remote = scripted()
    env = BlockingReset(RandomEnv(open_env(remote), GAMES, seed=4))
    env.reset()
    asked = [remote.next_reset().env_id]
    for _ in range(8):
        remote.finish(1.0)
        assert until(env, is_done)[-1].reward == 1.0
        asked.append(remote.next_reset().env_id)
    assert set(asked) == set(GAMES)
    again = RandomEnv(open_env(scripted()), GAMES, seed=4)
    assert [again._draw()[0] for _ in asked] == asked


def test_the_episode_that_the_remote_begins_by_itself_is_not_played(scripted, open_env):
    remote = scripted()
    env = RandomEnv(open_env(remote), GAMES)
    env.reset()
    until(env, running)
    remote.script(lambda: (remote.finish(2.0), remote.next_episode(), remote.reward(64.0)))
    ended = until(env, is_done)
    seen = until(env, running)
    assert ended[-1].observation is None
    assert sum(step.reward for step in (*ended, *seen)) == 2.0
    assert seen[-1].pixel == 3


def test_a_reset_by_mask_draws_for_those_only(scripted, open_env):
    one, other = scripted(), scripted()
    env = RandomEnv(open_env(one, other), GAMES)
    env.reset(seed=5)
    until(env, running)
    env.reset(mask=[False, True])
    until(env, running)
    assert (one.resets.qsize(), other.resets.qsize()) == (1, 2)
    assert [request.seed for request in (one.next_reset(), other.next_reset())] == [5, 6]


def test_nothing_to_draw_from_is_refused(scripted, open_env):
    with pytest.raises(ConfigError, match=r"env_ids=\[\]"):
        RandomEnv(open_env(scripted()), [])


def test_a_shipped_remote_plays_what_is_drawn():
    tasks = ["desktop.CopyFile-v0", "desktop.RenameFile-v0"]
    with BlockingReset(RandomEnv(universe_client.make(tasks[0]), tasks, seed=1)) as env:
        env.reset()
        played = set()
        while played != set(tasks):
            played |= {one_step(env).info["env_status.env_id"]}
            env.unwrapped.core.truncate(0, "the next one")
            assert one_step(env).done
