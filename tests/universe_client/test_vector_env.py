"""`VectorEnv`: arguments, results, order of calls."""

from __future__ import annotations

import threading
import time

import pytest

from tests.support.drivers import needs_native
from tests.support.remotes.agent import one_step, until_running, wait_until
from tests.support.remotes.remote import by_hand
from universe_client import ConfigError, LocalStateError, VectorEnv


def test_reset_takes_no_arguments_and_returns_none_for_each(scripted, open_env):
    """U10."""
    env = open_env(scripted(), scripted(), scripted())
    assert env.reset() == [None] * 3
    assert env.n == len(env.remotes) == 3


def test_step_gives_four_results_of_the_same_length(scripted, open_env):
    """U11, U12."""
    env = open_env(scripted(), scripted(on_reset=by_hand))
    env.reset()
    deadline = time.monotonic() + 60
    while True:
        result = env.step([[], []])
        assert isinstance(result, tuple)
        observation_n, reward_n, done_n, info = result
        assert len(observation_n) == len(reward_n) == len(done_n) == len(info["n"]) == 2
        assert all(type(reward) is float for reward in reward_n)
        assert all(type(done) is bool for done in done_n)
        assert observation_n[1] is None
        if observation_n[0] is not None:
            break
        assert time.monotonic() < deadline
        env.wait(0.1)
    assert observation_n[0].keys() == {"vision", "text", "instruction"}
    assert env.observation_space.contains(observation_n[0])


@pytest.mark.parametrize("action_n", [[], [[]], [[], [], []]])
def test_a_wrong_number_of_actions_is_a_config_error(scripted, open_env, action_n):
    env = open_env(scripted(), scripted())
    env.reset()
    with pytest.raises(ConfigError, match=f"action_n has {len(action_n)} entries for 2 remotes"):
        env.step(action_n)


def test_an_unknown_event_names_slot_and_event_and_nothing_is_sent(scripted, playing):
    remotes = [scripted(), scripted()]
    env = playing(*remotes)
    with pytest.raises(ConfigError, match=r"slot 1: \('JumpEvent', 3\) is not an event"):
        env.step([[("KeyEvent", "a", True)], [("JumpEvent", 3)]])
    env.step([[("KeyEvent", "b", True)], []])
    assert [event.keysym for event in remotes[0].wait_for_events(1)] == [98]


def test_bad_reset_arguments(scripted, open_env):
    env = open_env(scripted(), scripted())
    with pytest.raises(ConfigError, match="seed has 3 entries for 2 remotes"):
        env.reset(seed=[1, 2, 3])
    with pytest.raises(ConfigError, match="env_ids has 1 entries for 2 remotes"):
        env.reset(env_ids=["test.Other-v0"])
    with pytest.raises(ConfigError, match="mask has 1 entries for 2 remotes"):
        env.reset(mask=[True])
    with pytest.raises(ConfigError, match=r"unknown reset options \['speed'\]"):
        env.reset(options={"speed": 1})
    env.reset(options={})


def test_spaces_are_of_the_screen_once_it_is_known(scripted, playing):
    env = playing(scripted())
    assert (env.action_space.width, env.action_space.height) == (24, 16)
    assert env.observation_space.sample()["vision"].shape == (16, 24, 3)
    assert env.action_space.contains(env.action_space.sample())


def test_spaces_before_the_first_screen_have_the_usual_size():
    env = VectorEnv(None, "vnc://127.0.0.1:1")
    assert (env.action_space.width, env.action_space.height) == (1024, 768)
    env.close()


def test_wait_wakes_when_something_comes_and_on_close(scripted, playing):
    remote = scripted()
    env = playing(remote)
    while env.wait(0.3):
        one_step(env)
    assert env.wait(0) is False
    remote.reward(1.0)
    assert env.wait(60)
    one_step(env)
    while env.wait(0.3):
        one_step(env)
    woken = threading.Event()
    waiter = threading.Thread(target=lambda: env.wait(30) and woken.set())
    waiter.start()
    env.close()
    assert woken.wait(60)
    waiter.join()


@needs_native
def test_frames_wake_the_event_loop_only_while_a_thread_waits(scripted, playing):
    remote = scripted()
    env = playing(remote, driver="native")
    while env.wait(0.3):
        one_step(env)
    calls: list[int] = []
    session = env.remotes[0].link.session
    on_change = session._on_change
    session._on_change = lambda: (calls.append(1), on_change())

    def shown(value: int) -> None:
        frames = session.frames
        remote.paint(value)
        wait_until(lambda: session.frames > frames)

    for value in range(1, 20):
        shown(value)
        assert one_step(env).pixel == value
    assert not calls
    shown(30)
    assert env.wait(0), "the frame came before the wait"
    assert one_step(env).pixel == 30
    assert not env.wait(0)
    timer = threading.Timer(0.1, remote.paint, [40])
    timer.start()
    assert env.wait(60), "the frame came during the wait"
    assert one_step(env).pixel == 40
    assert calls
    timer.join()


def test_close_is_idempotent_and_needs_no_reset(scripted, open_env):
    env = open_env(scripted())
    env.close()
    env.close()
    with env:
        pass
    with pytest.raises(LocalStateError):
        env.reset()


def test_steps_do_not_wait_for_frames(scripted, playing):
    """U2: nothing changes, and a thousand steps take no time."""
    env = playing(scripted())
    began = time.monotonic()
    for _ in range(1000):
        one_step(env)
    assert time.monotonic() - began < 10


def test_sixty_four_remotes_in_one_process(scripted, open_env):
    """U8: each slot is its own remote, all the time."""
    remotes = [scripted() for _ in range(64)]
    env = open_env(*remotes)
    env.reset()
    until_running(env, 60)
    for index, remote in enumerate(remotes):
        remote.reward(float(index + 1))
    total = [0.0] * 64
    deadline = time.monotonic() + 60
    while not all(total):
        assert time.monotonic() < deadline
        env.wait(0.1)
        total = [old + new for old, new in zip(total, one_step(env).reward_n, strict=True)]
    assert total == [float(index + 1) for index in range(64)]


def test_repr_says_what_it_is(scripted, open_env):
    assert repr(open_env(scripted(), env_id="test.Env-v0")) == "<VectorEnv test.Env-v0 n=1>"


def test_another_environment_is_asked_for_from_then_on(scripted, open_env):
    one, other = scripted(), scripted()
    env = open_env(one, other, env_id="test.One-v0")
    env.reset(env_ids=["test.Two-v0", None])
    until_running(env)
    assert [remote.next_reset().env_id for remote in (one, other)] == ["test.Two-v0", "test.One-v0"]
    one.stop()
    one.start()
    assert one.next_reset().env_id == "test.Two-v0", "after a loss, too"
    env.reset()
    assert one.next_reset().env_id == "test.Two-v0"
