"""One remote as the agent sees it, beyond `tests/integration/semantics/`."""

from __future__ import annotations

import operator
import threading

from tests.support.remotes.agent import one_step, running, until, until_running, wait_until
from tests.support.remotes.remote import by_hand
from tests.support.timing import Stopwatch
from vnc.events import KeyEvent


def test_a_slot_that_is_not_polled_keeps_what_it_has(scripted, playing):
    one, other = scripted(), scripted()
    env = playing(one, other)
    other.reward(7.0)
    wait_until(lambda: env.remotes[1].link.buffer._current.count == 1)
    observation_n, reward_n, done_n, info = env.recv(mask=[True, False])
    assert observation_n[1] is None
    assert (reward_n[1], done_n[1], info["n"][1]["stats.reward.count"]) == (0.0, False, 0)
    assert one_step(env).reward_n[1] == 7.0


def test_nothing_sent_is_nothing_masked_and_no_reaction(scripted, open_env):
    env = open_env(scripted(on_reset=by_hand))
    env.reset()
    info = one_step(env).info
    assert info["mask.masked.action"] == 0
    assert info["reaction_time"] is None
    assert info["mask.masked.observation"] is True


def test_an_episode_that_the_client_truncates_ends_once(scripted, open_env):
    remote = scripted(on_reset=by_hand)
    env = open_env(remote)
    env.reset()
    remote.answer(remote.next_reset())
    until_running(env)
    remote.reward(2.0)
    wait_until(lambda: env.remotes[0].link.buffer._current.count == 1)
    env.core.truncate(0, "bored")
    step = one_step(env)
    assert (step.reward, step.done, step.info["end_reason"]) == (2.0, True, "bored")
    assert step.observation is None
    remote.answer(remote.next_reset())
    after = until(env, lambda step: step.observation is not None)
    assert not any(step.done for step in after)
    assert after[-1].pixel == 2


def test_cutting_an_episode_that_is_not_on_has_no_effect(scripted, open_env):
    remote = scripted(on_reset=by_hand)
    env = open_env(remote)
    env.reset()
    env.core.truncate(0, "bored")
    remote.answer(remote.next_reset())
    assert not any(step.done for step in until(env, lambda step: step.observation is not None))
    assert remote.resets.qsize() == 0


def test_the_error_of_a_slot_is_reported_once_and_kept(scripted, playing):
    remote = scripted()
    env = playing(remote, backoff=(5.0, 5.0))
    remote.stop()
    message = until(env, lambda step: step.info["error"] is not None)[-1].info["error"]
    assert one_step(env).info["error"] is None
    assert str(env.remotes[0].error) == message
    assert env.remotes[0].new_error is None


def test_a_step_waits_once_for_a_loop_that_stands_still_not_once_for_each_remote(scripted, playing):
    """Only the native driver decodes frames meanwhile: with the portable one nothing is waited for."""
    remotes = [scripted() for _ in range(8)]
    env = playing(*remotes)
    gate = threading.Event()
    env.core._loop.call(gate.wait, 60)
    before = [remote.link.session.frames for remote in env.remotes]
    for remote in remotes:
        remote.paint(77)
    if env.config.driver == "native":
        sessions = [remote.link.session for remote in env.remotes]
        wait_until(lambda: all(map(operator.gt, [session.frames for session in sessions], before)))
    watch = Stopwatch()
    step = one_step(env)
    seconds = watch.seconds
    gate.set()
    assert seconds < 1.0, "it waited for each remote"
    assert running(step), "what was seen last is still what this episode looks like, as far as is known"
    until(env, lambda step: all((shown["vision"] == 77).all() for shown in step.observation_n))


def test_actions_keep_their_order_over_steps(scripted, playing):
    remote = scripted()
    env = playing(remote)
    for number in range(100):
        env.step([[("KeyEvent", 0x100 + number, True)]])
    assert remote.wait_for_events(100) == [KeyEvent(0x100 + number, True) for number in range(100)]


def test_the_instruction_stays_in_the_observation_as_long_as_its_episode(scripted, playing):
    remote = scripted()
    env = playing(remote)
    assert one_step(env).observation["instruction"] is None
    remote.text("Click on OK.")
    remote.text("Well done.")
    seen = until(env, lambda step: "Well done." in step.observation["text"])
    after = [one_step(env) for _ in range(3)]
    assert [step.observation["instruction"] for step in seen[-1:] + after] == ["Click on OK."] * 4
    assert [step.observation["text"] for step in after] == [[]] * 3
    remote.script(lambda: (remote.finish(1.0), remote.next_episode()))
    until(env, lambda step: step.done)
    assert until_running(env).observation["instruction"] is None
