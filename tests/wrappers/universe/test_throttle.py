"""Throttle: absolute deadlines, and the count of missed ones."""

from __future__ import annotations

import threading
import time

import pytest

from tests.support.remotes.agent import until_running
from tests.support.timing import best_of, seconds
from universe_client import ConfigError, LocalStateError
from vnc.events import KeyEvent
from wrappers import Throttle


def throttled(env, step_rate):
    env = Throttle(env, step_rate)
    env.reset()
    return env


def test_steps_come_at_the_rate_whatever_the_agent_spends_within_it(scripted, open_env):
    env = throttled(open_env(scripted()), step_rate=10)
    env.step([[]])

    def ten_steps() -> None:
        for _ in range(10):
            threading.Event().wait(0.075)
            env.step([[]])

    assert seconds(ten_steps) >= 0.89, "faster than the rate"
    assert best_of(5, ten_steps, 1.5) < 1.5, "the agent's time was added to the period"


def test_a_late_step_is_counted_and_not_made_up_for_by_a_burst(scripted, open_env):
    env = throttled(open_env(scripted()), step_rate=20)
    env.step([[]])
    waits = []
    for _ in range(5):
        before = env.missed
        threading.Event().wait(0.17)  # the agent thinks for more than three periods
        began = time.monotonic()
        _, _, _, info = env.step([[]])
        waits.append(time.monotonic() - began)
        assert info["throttle.missed"] == env.missed == before + 1
        env.step([[]])
        assert time.monotonic() - began >= 0.05, "the next step made up for lost time"
    assert min(waits) < 0.04, "a late step waits for nothing"


def test_actions_are_sent_before_the_wait(scripted, playing):
    remote = scripted()
    inner = playing(remote)
    env = throttled(inner, step_rate=1000)
    until_running(env)
    env.pacer.step_rate = 0.005  # each step takes 200 s, unless it is woken
    env.step([[]])

    def step() -> None:
        with pytest.raises(LocalStateError):
            env.step([[("KeyEvent", "a", True)]])

    stepper = threading.Thread(target=step)
    stepper.start()
    assert remote.wait_for_events(1, timeout=60) == [KeyEvent(97, True)]
    env.close()
    stepper.join(60)
    assert not stepper.is_alive()


def test_close_wakes_a_step_that_waits(scripted, open_env):
    env = throttled(open_env(scripted()), step_rate=0.005)
    failure: list[Exception] = []

    def step() -> None:
        try:
            env.step([[]])
        except LocalStateError as error:
            failure.append(error)

    stepper = threading.Thread(target=step)
    stepper.start()
    env.close()
    stepper.join(60)
    assert not stepper.is_alive(), "the step takes 200 s unless it is woken"
    assert len(failure) == 1


@pytest.mark.parametrize("action", [[], [("KeyEvent", "a", True)]], ids=["empty", "not empty"])
def test_ancestor_throttle_any_action_only_peeked(scripted, open_env, action):
    """`any(spaces.PeekReward for peek in action)` held for each action that was not empty.

    Such a step must deliver the reward and the done, and must not keep them for a later one.
    """
    remote = scripted()
    inner = open_env(remote)
    env = throttled(inner, step_rate=500)
    until_running(env)
    remote.reward(1.0)
    remote.finish(2.0)
    total, dones = 0.0, 0
    deadline = time.monotonic() + 60
    while not dones:
        assert time.monotonic() < deadline
        _, reward_n, done_n, _ = env.step([action])
        total += reward_n[0]
        dones += done_n[0]
    for _ in range(5):
        _, reward_n, done_n, _ = env.step([action])
        total += reward_n[0]
        dones += done_n[0]
    assert (total, dones) == (3.0, 1)


@pytest.mark.parametrize("step_rate", [0, -1, float("nan")])
def test_a_rate_that_is_none_is_refused(scripted, open_env, step_rate):
    with pytest.raises(ConfigError, match="step_rate"):
        Throttle(open_env(scripted()), step_rate)
