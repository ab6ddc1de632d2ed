"""ActionBuffer: a fixed delay, and observations with what is not played yet; times through the other wrappers."""

from __future__ import annotations

import time

import pytest

from tests.support.remotes.agent import until_running, wait_until
from universe_client import ConfigError
from vnc.events import KeyEvent
from wrappers import ActionBuffer, EpisodeID, Joint, KeyState, Unvectorize, Vectorize

LEFT, UP = 0xFF51, 0xFF52
LATER = 60.0
SETS = [(), "Left", ("Up", "Left")]


def test_an_action_is_played_its_delay_after_the_observation(scripted, playing):
    remote = scripted()
    env = ActionBuffer(playing(remote), delay=0.2)
    env.step([[]])
    before = time.monotonic()
    observation_n, _, _, info = env.step([[]])
    after = time.monotonic()
    observation_n, _, _, info = env.step([[("KeyEvent", "a", True)]])
    ((at, action),) = observation_n[0]["planned"]
    assert before + 0.2 <= at <= after + 0.2
    assert action == [("KeyEvent", "a", True)]
    assert info["action_buffer.late"] == 0
    assert remote.wait_for_events(1) == [KeyEvent(ord("a"), True)]
    wait_until(lambda: env.step([[]])[0][0]["planned"] == [])


def test_an_action_that_comes_too_late_is_played_at_once_and_counted(scripted, playing):
    remote = scripted()
    env = ActionBuffer(playing(remote), delay=0.0)
    env.step([[]])
    assert env.step([[("KeyEvent", "a", True)]])[3]["action_buffer.late"] == 1
    assert remote.wait_for_events(1) == [KeyEvent(ord("a"), True)]


def test_actions_of_another_space_and_times_of_ones_own_are_in_the_observation(scripted, playing):
    remote = scripted()
    env = ActionBuffer(KeyState(playing(remote), SETS), delay=LATER)
    env.step([None])
    now = time.monotonic()
    env.play([[(now, 1), (now + LATER, 2), (now + LATER + 1, 0)]])
    assert remote.wait_for_events(1) == [KeyEvent(LEFT, True)]
    observation_n, _, _, _ = env.recv()
    assert observation_n[0]["planned"] == [(now + LATER, 2), (now + LATER + 1, 0)]
    env.send([1], at=now + LATER + 0.5)
    assert env.recv()[0][0]["planned"] == [(now + LATER, 2), (now + LATER + 0.5, 1)]


def test_a_new_episode_has_nothing_planned(scripted, playing):
    remote = scripted()
    env = ActionBuffer(playing(remote), delay=LATER)
    env.step([[("KeyEvent", "a", True)]])
    env.reset()
    until_running(env.unwrapped)
    assert env.step([[]])[0][0]["planned"] == []


@pytest.mark.parametrize("delay", [-1, 61, float("nan")])
def test_a_delay_out_of_range_is_refused(scripted, open_env, delay):
    with pytest.raises(ConfigError, match="delay"):
        ActionBuffer(open_env(scripted()), delay)


# -- times through the other wrappers


def test_key_states_follow_from_what_is_held_at_their_time(scripted, playing):
    remote = scripted()
    env = KeyState(playing(remote), SETS)
    now = time.monotonic()
    env.play([[(now, 1), (now, 2), (now, None), (now + LATER, 0)]])
    assert remote.wait_for_events(2) == [KeyEvent(LEFT, True), KeyEvent(UP, True)]
    env.send([1], at=now + LATER)
    env.send([0])
    assert remote.wait_for_events(4)[2:] == [KeyEvent(UP, False), KeyEvent(LEFT, False)]


def test_a_key_state_that_changes_nothing_replaces_what_is_planned(scripted, playing):
    remote = scripted()
    env = KeyState(playing(remote), SETS)
    now = time.monotonic()
    env.play([[(now, 1), (now + LATER, 0)]])
    remote.wait_for_events(1)
    env.send([1])
    assert env.recv()[3]["n"][0]["timed.cancelled"] == 1
    assert env.unwrapped.remotes[0].link.held[0] == (LEFT,)
    env.play([[(time.monotonic() + LATER, 0)]])
    env.play([[(time.monotonic(), 1)]])
    env.send([2])
    remote.wait_for_events(4)
    wait_until(lambda: env.unwrapped.remotes[0].link.held[0] == (LEFT, UP))
    assert KeyEvent(LEFT, False) not in remote.events
    env.send([0], at=time.monotonic() + LATER)
    env.send([2])
    assert env.recv()[3]["n"][0]["timed.waiting"] == 0
    assert KeyEvent(LEFT, False) not in remote.events


def test_a_key_state_for_later_counts_what_is_planned_before_it(scripted, playing):
    remote = scripted()
    env = KeyState(playing(remote), SETS)
    now = time.monotonic()
    env.play([[(now + 0.05, 1)]])
    env.send([2], at=now + 0.1)
    env.send([0], at=[now + 0.15])
    expected = [KeyEvent(LEFT, True), KeyEvent(UP, True), KeyEvent(UP, False), KeyEvent(LEFT, False)]
    assert remote.wait_for_events(4) == expected


def test_times_reach_the_remotes_of_joined_environments(scripted, playing):
    remotes = [scripted() for _ in range(3)]
    env = Joint([playing(remotes[0]), playing(*remotes[1:])])
    now = time.monotonic()
    env.send([[("KeyEvent", "a", True)]] * 3, at=[None, now, now + LATER])
    env.play([[(now, [("KeyEvent", "b", True)])], None, [(now, [("KeyEvent", "c", True)])]])
    assert remotes[0].wait_for_events(2) == [KeyEvent(ord("a"), True), KeyEvent(ord("b"), True)]
    assert remotes[1].wait_for_events(1) == [KeyEvent(ord("a"), True)]
    assert remotes[2].wait_for_events(1) == [KeyEvent(ord("c"), True)]
    env.send([[("KeyEvent", "d", True)]] * 3, at=now)
    assert remotes[2].wait_for_events(2)[1] == KeyEvent(ord("d"), True)
    with pytest.raises(ConfigError, match="at has 2 entries"):
        env.send([[]] * 3, at=[now, now])


def test_times_reach_the_remote_of_single_values(scripted, playing):
    remote = scripted()
    single = Unvectorize(EpisodeID(playing(remote)))
    now = time.monotonic()
    single.send([("KeyEvent", "a", True)], at=now)
    remote.wait_for_events(1)
    single.play([(now, [("KeyEvent", "b", True)])])
    remote.wait_for_events(2)
    env = Vectorize(single)
    env.send([[("KeyEvent", "c", True)]], at=[now])
    remote.wait_for_events(3)
    env.play([None])
    env.play([[(now, [("KeyEvent", "d", True)])]])
    assert remote.wait_for_events(4) == [KeyEvent(ord(name), True) for name in "abcd"]
    with pytest.raises(ConfigError, match="sequence_n has 2 entries"):
        env.play([None, None])


def test_episodes_that_are_not_to_be_played_get_no_plan(scripted, playing):
    remotes = scripted(), scripted()
    env = EpisodeID(playing(*remotes), limit=1)
    now = time.monotonic()
    env.play([[(now, [("KeyEvent", "a", True)])], [(now, [("KeyEvent", "b", True)])]])
    assert remotes[0].wait_for_events(1) == [KeyEvent(ord("a"), True)]
    assert env.recv()[3]["n"][1]["timed.played"] is None
