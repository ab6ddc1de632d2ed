"""Joint: several vectors as one vector."""

from __future__ import annotations

import pytest

import universe_client
from tests.support.remotes.agent import is_done, one_step, until, until_running
from tests.support.remotes.remote import by_hand
from universe_client import ConfigError
from vnc.events import KeyEvent
from wrappers import BlockingReset, EpisodeID, Joint, Logger, Throttle, TimeLimit

A, B = KeyEvent(97, True), KeyEvent(98, True)


def test_actions_and_results_are_in_the_order_of_the_vectors(scripted, open_env):
    remotes = [scripted() for _ in range(3)]
    env = Joint([open_env(remotes[0], remotes[1]), open_env(remotes[2])])
    assert (env.n, len(env.remotes)) == (3, 3)
    assert env.reset(seed=10) == [None] * 3
    assert [remote.next_reset().seed for remote in remotes] == [10, 11, 12]
    until_running(env)
    remotes[2].reward(5.0)
    remotes[2].paint(9)
    step = until(env, lambda step: step.reward_n[2])[-1]
    assert step.reward_n == [0.0, 0.0, 5.0]
    one_step(env, [[A], [], [B]])
    assert (remotes[0].wait_for_events(1), remotes[2].wait_for_events(1)) == ([A], [B])
    assert remotes[1].events == []


def test_some_are_reset_and_some_received(scripted, open_env):
    remotes = [scripted() for _ in range(3)]
    env = Joint([open_env(remotes[0]), open_env(remotes[1], remotes[2])])
    env.reset()
    until_running(env)
    env.reset(mask=[False, False, True])
    assert env.reset(mask=[True, False, False], seed=[7, None, None]) == [None] * 3
    until_running(env)
    assert [remote.resets.qsize() for remote in remotes] == [2, 1, 2]
    assert [remotes[0].next_reset().seed for _ in range(2)] == [None, 7]
    observation_n, *_ = env.recv([False, True, False])
    assert [seen is None for seen in observation_n] == [True, False, True]


def test_waiting_for_any_of_them(scripted, open_env):
    one, other = scripted(), scripted()
    env = Joint([open_env(one), open_env(other)])
    env.reset()
    until_running(env)
    while env.wait(0.3):
        one_step(env)
    other.reward(1.0)
    assert env.wait(60)
    assert one_step(env).reward_n == [0.0, 1.0]


def test_wrappers_that_wait_and_cut_go_around_it(scripted, open_env):
    one, other = scripted(), scripted()
    env = BlockingReset(TimeLimit(Joint([open_env(one), open_env(other)]), steps=3))
    assert [seen["vision"][0, 0, 0] for seen in env.reset()] == [1, 1]
    ended = until(env, is_done)[-1]
    assert (ended.done_n, [info["end_reason"] for info in ended.info_n]) == ([True] * 2, ["time_limit"] * 2)


def test_wrong_lengths_are_told_and_closing_closes_all(scripted, open_env):
    envs = [open_env(scripted()), open_env(scripted(on_reset=by_hand))]
    with Joint(envs) as env:
        env.reset()
        for call in (lambda: env.step([[]]), lambda: env.recv([True]), lambda: env.reset(seed=[1])):
            with pytest.raises(ConfigError, match="has 1 entries for 2 remotes"):
                call()
        assert repr(env) == "<Joint [<VectorEnv any n=1>, <VectorEnv any n=1>]>"
    assert all(env.closed for env in envs)
    with pytest.raises(ConfigError, match="no environments"):
        Joint([])


def test_two_shipped_games_side_by_side():
    games = ["builtin.NeonDrive-v0", "gym-core.CartPole-v1"]
    with Throttle(BlockingReset(Joint([universe_client.make(game) for game in games])), step_rate=30) as env:
        env = EpisodeID(Logger(env), limit=1000)
        env.reset()
        seen = [one_step(env) for _ in range(3)]
        assert [info["env_status.env_id"] for info in seen[-1].info_n] == games
        heights = [observation["vision"].shape[0] for observation in seen[-1].observation_n]
        assert heights[0] == 240
        assert heights[1] != 240
        assert seen[-1].info_n[1]["vectorized.episode_id"] % 2 == 1
