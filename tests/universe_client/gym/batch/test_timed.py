"""Actions with times on Gymnasium's interfaces."""

from __future__ import annotations

import math
import time

import numpy as np
import pytest
from gymnasium.error import AlreadyPendingCallError, ResetNeeded

from tests.support.remotes.agent import wait_until
from tests.support.remotes.gym import open_gym, three
from universe_client import ConfigError, GymEnv, LocalStateError
from vnc.events import KeyEvent
from wrappers import FrameSkip, GymWrapper

__all__ = ["open_gym", "three"]
LEFT, RIGHT = 0xFF51, 0xFF53
LATER = 60.0
PRESS_LEFT, RELEASE_LEFT = KeyEvent(LEFT, True), KeyEvent(LEFT, False)


def test_a_chunk_is_played_by_each_row_at_its_times(three, open_gym):
    env = open_gym(*three)
    env.reset()
    now = time.monotonic()
    env.play([np.array([1, 1, 0]), np.array([2, 1, 0])], [now, now + 0.05])
    assert three[0].wait_for_events(3) == [PRESS_LEFT, RELEASE_LEFT, KeyEvent(RIGHT, True)]
    assert three[1].wait_for_events(1) == [PRESS_LEFT]
    infos = env.recv()[4]
    assert [its is not None and len(its) for its in infos["timed.played"]] == [2, 1, False]
    env.play([np.array([0, 0])], [[now, now + LATER]], ids=[0, 1])
    assert three[0].wait_for_events(4)[3:] == [KeyEvent(RIGHT, False)]
    assert env.recv()[4]["timed.waiting"].tolist() == [0, 1]
    observations, *_ = env.step(np.array([0, 0, 0]))
    assert len(observations) == 3
    assert three[1].wait_for_events(2) == [PRESS_LEFT, RELEASE_LEFT]


def test_a_step_replaces_what_is_planned_also_if_it_changes_nothing(scripted, open_gym):
    remote = scripted()
    env = open_gym(remote)
    env.reset()
    later = time.monotonic() + LATER
    env.play([np.array([1]), np.array([0])], [time.monotonic(), later])
    remote.wait_for_events(1)
    env.recv()
    infos = env.step(np.array([1]))[4]
    assert (infos["timed.waiting"][0], infos["timed.cancelled"][0]) == (0, 1)
    env.play([np.array([2])], [later])
    env.recv()
    env.play([np.array([1])], [time.monotonic()])
    env.recv()
    env.step(np.array([1]))
    assert KeyEvent(LEFT, False) not in remote.events


def test_an_empty_chunk_drops_what_is_planned(three, open_gym):
    env = open_gym(*three)
    env.reset()
    env.play([np.array([1, 1, 1])], [time.monotonic() + LATER])
    env.recv()
    env.play([], [], ids=[0, 1])
    assert env.recv()[4]["timed.waiting"].tolist() == [0, 0]


def test_a_wrapper_of_actions_changes_chunks_too(three, open_gym):
    class Swap(GymWrapper):
        def actions(self, rows, actions):
            return np.where(actions == 1, 2, 1)

    env = Swap(open_gym(*three))
    env.reset()
    env.play([np.array([1, 2, 2])], time.monotonic() * np.ones(1))
    assert three[0].wait_for_events(1) == [KeyEvent(RIGHT, True)]
    assert three[1].wait_for_events(1) == [PRESS_LEFT]


def test_wrong_chunks_are_refused(three, open_gym):
    env = open_gym(*three)
    one = np.array([0, 0, 0])
    now = time.monotonic()
    with pytest.raises(ResetNeeded):
        env.play([one], [now])
    env.reset()
    for chunk, at, message in [
        ([one], now, "shape"),
        ([one], [now, now], "shape"),
        ([one], "now", "array of times"),
        ([one, one], [now, now - 1], "sort the entries"),
        ([one], [math.nan], "monotonic"),
        ([np.array([0, 9, 0])], [now], "remote 1"),
        ([np.array([0, 0])], [now], "3 actions"),
    ]:
        with pytest.raises(ConfigError, match=message):
            env.play(chunk, at)
    with pytest.raises(ConfigError, match="FrameSkip"):
        FrameSkip(env).play([one], [now])
    env.play([one], [now])
    with pytest.raises(AlreadyPendingCallError):
        env.play([one], [now])
    env.recv()


def test_one_remote_plays_a_chunk_and_returns_a_step(scripted, open_gym):
    remote = scripted()
    env = open_gym(remote, face=GymEnv)
    with pytest.raises(ResetNeeded):
        env.play([1], [time.monotonic()])
    env.reset()
    now = time.monotonic()
    results = [env.play([1, 0, 2], [now, now + 0.05, now + LATER])]
    assert remote.wait_for_events(2) == [PRESS_LEFT, RELEASE_LEFT]

    def planned():
        return [at for *_, info in results for at, _, _ in info["timed.played"] or ()]

    wait_until(lambda: len(planned()) == 2 or results.append(env.play(None)))
    assert all(env.observation_space.contains(observation) for observation, *_ in results)
    assert planned() == [now, now + 0.05]
    assert results[-1][4]["timed.waiting"] == 1
    info = env.step(1)[4]
    assert (info["timed.waiting"], info["timed.cancelled"]) == (0, 1), "a step replaces the plan"
    env.play([2, 0], [now + LATER, now + LATER])
    info = env.play([])[4]
    assert info["timed.waiting"] == 0 and info["timed.cancelled"] > 0
    assert remote.wait_for_events(4)[2:] == [PRESS_LEFT, RELEASE_LEFT], "the plan would have released it"


def test_wrong_chunks_of_one_remote_are_refused(scripted, open_gym):
    env = open_gym(scripted(), face=GymEnv)
    env.reset()
    now = time.monotonic()
    for chunk, at, message in [
        ([1], [], "shape"),
        ([1, 0], [now], "shape"),
        ([1, 0], [now, now - 1], "sort the entries"),
        ([9], [now], "remote 0"),
        ([1], ["now"], "array of times"),
    ]:
        with pytest.raises(ConfigError, match=message):
            env.play(chunk, at)
    assert env.play(None)[4]["timed.waiting"] == 0


def test_in_lockstep_one_remote_has_no_times(scripted, open_gym):
    env = open_gym(scripted(on_step=lambda remote, request: None), face=GymEnv, mode="lockstep")
    env.reset()
    with pytest.raises(LocalStateError, match="lock-step"):
        env.play([1], [time.monotonic()])
