"""Logger: statistics per remote, and a line at a fixed interval."""

from __future__ import annotations

import logging

import pytest

from tests.support.remotes.agent import until, until_running
from tests.support.remotes.remote import by_hand
from wrappers import Logger


def test_tallies_are_what_the_remotes_sent(scripted, open_env, caplog):
    remote, silent = scripted(), scripted(on_reset=by_hand)
    env = Logger(open_env(remote, silent), every=3600)
    env.reset()
    until(env, lambda step: step.observation is not None)
    for reward in (1.0, 2.0, 4.0):
        remote.reward(reward)
    remote.script(lambda: (remote.finish(8.0), remote.next_episode()))
    until(env, lambda step: step.done)
    until(env, lambda step: step.observation is not None)
    remote.paint(99)
    until(env, lambda step: step.pixel == 99)
    env.step([[("KeyEvent", "a", True)], []])
    tally = env.tallies[0]
    assert (tally.reward, tally.rewards, tally.episodes) == (15.0, 4, 1)
    assert tally.frames >= 1
    assert tally.bytes > 0
    assert tally.running > 0
    assert tally.frames_per_second == pytest.approx(tally.frames / tally.running)
    assert tally.mean("reaction_time") > 0
    assert tally.mean("observation_lag") > 0
    other = env.tallies[1]
    assert (other.reward, other.rewards, other.episodes, other.frames, other.running) == (0.0, 0, 0, 0, 0.0)
    assert other.frames_per_second == 0.0
    assert other.mean("reaction_time") is None
    assert not caplog.records or all(r.name != "wrappers.universe.logger" for r in caplog.records)


def test_a_line_is_logged_with_rates_and_times(scripted, open_env, caplog):
    caplog.set_level(logging.INFO, "wrappers.universe.logger")
    env = Logger(open_env(scripted()), every=0.01)
    env.reset()
    until_running(env)
    until(env, lambda step: any(r.name == "wrappers.universe.logger" for r in caplog.records))
    line = next(record.message for record in caplog.records if record.name == "wrappers.universe.logger")
    for part in ("steps/s", "frames/s [", "kB/s", "rewards/s", "reward +0", "reaction_time unknown"):
        assert part in line


def test_a_remote_without_rewards_is_tallied(scripted, open_env):
    env = Logger(open_env(scripted(has_rewarder=False)))
    env.reset()
    until_running(env)
    env.step([[]])
    assert env.tallies[0].reward == 0.0
    assert env.steps >= 2
