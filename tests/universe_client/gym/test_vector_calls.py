"""Actions in, partial batches and infos out of the vector face."""

from __future__ import annotations

import threading

import gymnasium
import numpy as np
import pytest
from gymnasium.error import AlreadyPendingCallError, ClosedEnvironmentError, NoAsyncCallError
from gymnasium.wrappers.vector import (
    DictInfoToList,
)

from tests.support.remotes.gym import any_done, noop, open_gym, step_until, three, values
from tests.support.remotes.remote import HEIGHT, WIDTH
from universe_client import ConfigError
from universe_client.spaces.action_maps import Keys, Pointer
from vnc.events import KeyEvent, PointerEvent

__all__ = ["open_gym", "three"]
LEFT, RIGHT, UP = 0xFF51, 0xFF53, 0xFF52
RIGHT_ACTION = 2  # of the default key sets


# -- V7: infos


def test_v7_infos_are_arrays_with_masks_and_never_an_episode(three, open_gym):
    env = open_gym(*three)
    env.reset()
    three[2].reward(1.0, info={"score": 12, "lives": 3})
    result = step_until(env, lambda result: result[1].any())[-1]
    infos = result[4]
    assert infos["remote.score"].tolist() == [0, 0, 12]
    assert infos["_remote.score"].tolist() == [False, False, True]
    assert infos["stats.reward.count"].tolist() == [0, 0, 1]
    assert "episode" not in infos
    assert "final_obs" not in infos
    for key, value in infos.items():
        assert len(value) == 3
        assert key.startswith("_") or infos[f"_{key}"].dtype == np.bool_
    as_list = DictInfoToList(env).step(noop(env))[4]
    assert [info["env_status.env_id"] for info in as_list] == ["test.Env-v0"] * 3


def test_info_keys_and_dtypes_never_change(scripted, open_gym):
    remote = scripted()
    env = open_gym(remote, max_episode_steps=3, reset_mode="mask")
    seen = {
        tuple((key, str(value.dtype)) for key, value in env.step(np.array([number % 2]))[4].items())
        for number in range(30)
        if env.closed is False and (number or env.reset())
    }
    assert len(seen) == 1
    assert dict(seen.pop())["reaction_time"] == "float64"


# -- send and recv


def test_recv_serves_whichever_remotes_have_something_new(three, open_gym):
    env = open_gym(*three)
    env.reset()
    env.send(noop(env))
    three[2].paint(30)
    seen: list[int] = []
    while 30 not in seen:  # the same picture may come again
        observations, rewards, terminations, truncations, infos = env.recv(min_ready=1, timeout=60)
        ids, seen = infos["env_id"].tolist(), values(observations)
        assert rewards.shape == terminations.shape == truncations.shape == (len(ids),)
        assert all(len(value) == len(ids) for value in infos.values())
        env.send(noop(env)[ids], ids=ids)
    assert ids[seen.index(30)] == 2


def test_recv_leaves_the_others_pending(three, open_gym):
    env = open_gym(*three)
    env.reset()
    env.send(np.array([RIGHT_ACTION]), ids=[2])
    assert three[2].wait_for_events(1) == [KeyEvent(RIGHT, True)]
    env.send(noop(env)[:1], ids=np.array([1]))
    with pytest.raises(AlreadyPendingCallError, match=r"remotes \[1, 2\]"):
        env.send(noop(env))
    three[1].finish(9.0)
    reward = 0.0
    while reward != 9.0:
        rewards, terminations, _, infos = env.recv(min_ready=1, timeout=60)[1:]
        ids = infos["env_id"].tolist()
        if 1 in ids:
            reward = rewards[ids.index(1)]
            assert terminations[ids.index(1)] == (reward == 9.0)
        env.send(noop(env)[ids], ids=ids)
    three[1].next_episode()
    ids = []
    while 1 not in ids:
        observations, *_, infos = env.recv(min_ready=1, timeout=60)
        ids = infos["env_id"].tolist()
    assert values(observations)[ids.index(1)] == 2


def test_recv_waits_for_the_first_frame_of_a_row_that_was_truncated(scripted, open_gym):
    remote = scripted()
    env = open_gym(remote, max_episode_steps=1)
    env.reset()
    gate = threading.Event()
    env.core._loop.call(gate.wait, 5)  # the loop is busy: the old episode's frame is still there
    assert env.step(noop(env))[3][0]
    env.send(noop(env))
    assert len(env.recv(min_ready=1, timeout=0.05)[1]) == 0
    gate.set()
    observations, *_, infos = env.recv(min_ready=1, timeout=60)
    assert values(observations) == [2]
    assert not infos["resetting"].any()


def test_recv_returns_what_is_there_when_its_time_is_over(three, open_gym):
    env = open_gym(*three)
    env.reset()
    ids = [0, 1, 2]
    for _ in range(20):  # until the screens are still
        env.send(noop(env)[ids], ids=ids)
        observations, rewards, *_, infos = env.recv(min_ready=3, timeout=0.05)
        ids = infos["env_id"].tolist()
        if not ids:
            break
    assert observations.shape == (0, HEIGHT, WIDTH, 3)
    assert rewards.shape == infos["env_id"].shape == (0,)
    assert env.recv()[4]["env_id"].tolist() == [0, 1, 2]


def test_calls_out_of_order_are_gymnasiums_errors(three, open_gym):
    env = open_gym(*three)
    env.reset()
    with pytest.raises(NoAsyncCallError):
        env.recv()
    env.send(noop(env))
    for call in (env.reset, lambda: env.step(noop(env)), lambda: env.send(noop(env)[:1], ids=[0])):
        with pytest.raises(AlreadyPendingCallError):
            call()
    env.recv()
    with pytest.raises(ConfigError, match="ids"):
        env.send(noop(env)[:2], ids=[1, 1])
    with pytest.raises(ConfigError, match="ids"):
        env.send(noop(env)[:1], ids=[3])
    env.close()
    env.close()
    for call in (env.reset, env.recv, env.render, lambda: env.step(noop(env)), lambda: env.call("state")):
        with pytest.raises(ClosedEnvironmentError):
            call()


# -- actions, V10


def test_discrete_actions_hold_keys_and_change_what_differs(scripted, open_gym):
    remote = scripted()
    env = open_gym(remote, actions=[(), "Right", ("Up", "Right")])
    env.reset()
    for number in (1, 1, 2, 2, 0):
        env.step(np.array([number]))
    assert remote.wait_for_events(4) == [
        KeyEvent(RIGHT, True),
        KeyEvent(UP, True),
        KeyEvent(UP, False),
        KeyEvent(RIGHT, False),
    ]


def test_keys_held_in_one_episode_are_pressed_again_in_the_next(scripted, open_gym):
    remote = scripted()
    env = open_gym(remote)
    env.reset()
    env.step(np.array([RIGHT_ACTION]))
    remote.wait_for_events(1)
    remote.finish()
    while not any_done(env.step(np.array([RIGHT_ACTION]))):
        env.core.wait(1)
    assert remote.wait_for_events(2)[1] == KeyEvent(RIGHT, False)
    remote.next_episode()
    env.step(np.array([RIGHT_ACTION]))
    env.step(np.array([RIGHT_ACTION]))
    env.step(np.array([RIGHT_ACTION]))
    assert remote.wait_for_events(3) == [KeyEvent(RIGHT, True), KeyEvent(RIGHT, False), KeyEvent(RIGHT, True)]


def test_multibinary_and_pointer_actions(scripted, open_gym):
    remotes = [scripted(), scripted()]
    keys = open_gym(*remotes, actions=Keys(["Left", "Right"]))
    assert keys.single_action_space == gymnasium.spaces.MultiBinary(2)
    keys.reset()
    keys.step(np.array([[1, 1], [0, 1]]))
    assert remotes[0].wait_for_events(2) == [KeyEvent(LEFT, True), KeyEvent(RIGHT, True)]
    assert remotes[1].wait_for_events(1) == [KeyEvent(RIGHT, True)]
    keys.close()
    remote = scripted()
    pointer = open_gym(remote, actions=Pointer())
    pointer.reset()
    pointer.step(np.array([[1.0, -1.0, 1.0]]))
    assert remote.wait_for_events(1) == [PointerEvent(WIDTH - 1, 0, 1)]


def test_v10_event_spaces_batch_to_tuples(scripted, open_gym):
    remotes = [scripted(), scripted()]
    env = open_gym(*remotes, actions="events")
    assert isinstance(env.action_space, gymnasium.spaces.Tuple)
    env.reset()
    sample = env.action_space.sample()
    assert isinstance(sample, tuple)
    assert sample in env.action_space
    env.step(([("KeyEvent", "Left", True)], []))
    assert remotes[0].wait_for_events(1) == [KeyEvent(LEFT, True)]
    assert not remotes[1].events


@pytest.mark.parametrize(
    ("actions", "message"),
    [
        ([0, 9, 0], "remote 1: action .*9.* not within 0..5"),
        ([0, 0], "2 actions for 3"),
        ([0] * 4, "4 actions for 3"),
    ],
)
def test_a_wrong_action_is_named_and_nothing_sent(three, open_gym, actions, message):
    env = open_gym(*three)
    env.reset()
    with pytest.raises(ConfigError, match=message):
        env.step(np.array(actions))
    env.step(noop(env))
    assert not any(remote.events for remote in three)
