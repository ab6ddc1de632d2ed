"""The promises of the environment, sentence by sentence: actions, and the agent's own mistakes."""

from __future__ import annotations

import pytest

from tests.support.remotes.agent import LEFT, PRESS, one_step, until_running, wait_until
from tests.support.remotes.remote import by_hand
from universe_client import LocalStateError
from vnc.events import KeyEvent, PointerEvent

# -- actions


def test_actions_of_a_slot_that_is_not_running_are_dropped_and_counted(scripted, open_env):
    remote = scripted(on_reset=by_hand)
    env = open_env(remote)
    env.reset()
    step = one_step(env, [[("KeyEvent", "a", True), ("PointerEvent", 1, 2, 0)]])
    assert step.info["mask.masked.action"] == 2
    request = remote.next_reset()
    assert one_step(env, PRESS).info["mask.masked.action"] == 1
    remote.answer(request)
    until_running(env)
    step = one_step(env, [[("KeyEvent", "Left", True)]])
    assert step.info["mask.masked.action"] == 0
    assert remote.wait_for_events(1) == [KeyEvent(LEFT, True)], "the dropped ones were queued"


def test_what_is_held_at_the_end_of_an_episode_is_released_on_the_wire(scripted, playing):
    remote = scripted()
    env = playing(remote)
    env.step([[("KeyEvent", "Left", True), ("KeyEvent", "a", True), ("PointerEvent", 3, 4, 5)]])
    remote.wait_for_events(3)
    remote.finish()
    assert remote.wait_for_events(6)[3:] == [
        KeyEvent(ord("a"), False),
        KeyEvent(LEFT, False),
        PointerEvent(3, 4, 0),
    ]


def test_what_is_held_is_released_by_a_reset(scripted, playing):
    remote = scripted()
    env = playing(remote)
    env.step(PRESS)
    remote.wait_for_events(1)
    env.reset()
    assert remote.wait_for_events(2)[1] == KeyEvent(LEFT, False)


def test_an_action_meant_for_the_last_episode_does_not_reach_the_next(scripted, playing):
    remote = scripted()
    env = playing(remote)
    remote.script(lambda: (remote.finish(1.0), remote.next_episode()))
    wait_until(lambda: env.remotes[0].link.playing is not None and str(env.remotes[0].link.playing) == "2")
    step = one_step(env, PRESS)  # the agent has seen nothing of episode 2 yet
    assert step.info["mask.masked.action"] == 1
    assert step.done
    assert one_step(env, PRESS).info["mask.masked.action"] == 0
    assert remote.wait_for_events(1) == [KeyEvent(LEFT, True)]


# -- the agent's own mistakes


def test_step_before_reset_is_an_error_of_order(scripted, open_env):
    env = open_env(scripted())
    with pytest.raises(LocalStateError, match="reset"):
        env.step([[]])


def test_the_first_reset_is_for_all(scripted, open_env):
    env = open_env(scripted())
    with pytest.raises(LocalStateError, match="first reset"):
        env.reset(mask=[False])


def test_everything_after_close_is_an_error_of_order(scripted, open_env):
    env = open_env(scripted())
    env.reset()
    env.close()
    env.close()
    assert env.closed
    for call in (env.reset, lambda: env.step([[]]), env.recv, lambda: env.send([[]])):
        with pytest.raises(LocalStateError, match="closed"):
            call()
