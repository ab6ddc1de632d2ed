"""Batches of `recv`: their sizes, and the caller's memory for their observations."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.remotes.gym import open_gym, three, values
from tests.support.remotes.remote import HEIGHT, WIDTH
from universe_client import ConfigError
from wrappers import FrameSkip, FrameStack, Grey, Resize

__all__ = ["open_gym", "three"]
FRAME = (HEIGHT, WIDTH, 3)


def _send(env, *ids):
    env.send(np.zeros(len(ids), np.int64), ids)


def test_batches_have_one_size_and_the_oldest_sends_come_first(three, open_gym):
    env = open_gym(*three)
    env.reset()
    for number in range(3):
        _send(env, 2)
        _send(env, 0, 1)
        for remote in three:
            remote.paint(50 + number)
        env._rows.await_news([0, 1, 2], 3, 60.0)
        *_, infos = env.recv(min_ready=2, max_ready=2)
        assert infos["env_id"].tolist() == [0, 2]
        assert env.recv()[4]["env_id"].tolist() == [1]


def test_a_remote_that_resets_or_is_slow_delays_no_batch(three, open_gym):
    env = open_gym(*three)
    env.reset()
    three[1].finish(2.0)
    _send(env, 0, 1, 2)
    ended = False
    while not ended:  # the others may have a late update of their first screens
        _, _, terminations, _, infos = env.recv(min_ready=1, max_ready=2, timeout=60.0)
        ids = infos["env_id"].tolist()
        ended = 1 in ids and bool(terminations[ids.index(1)])
        _send(env, *ids)  # remote 1 awaits the next episode, which does not begin
    for number in (60, 61, 62):
        three[0].paint(number)
        observations, *_, infos = env.recv(min_ready=1, max_ready=2, timeout=60.0)
        assert infos["env_id"].tolist() == [0]
        assert values(observations)[0] == number
        _send(env, 0)
    three[1].next_episode()
    while not (env.recv(min_ready=1, timeout=60.0)[4]["env_id"] == 1).any():
        pass


def test_observations_are_written_into_the_callers_array(three, open_gym):
    env = open_gym(*three, copy=False)
    env.reset()
    out = np.zeros((4, *FRAME), np.uint8)
    _send(env, 0, 1, 2)
    observations, *_ = env.recv(out=out)
    assert observations.shape == (3, *FRAME)
    assert np.shares_memory(observations, out)
    assert values(out) == [1, 1, 1, 0]
    three[2].paint(70)
    _send(env, 1, 2)
    env._rows.await_news([2], 1, 60.0)
    observations, *_, infos = env.recv(min_ready=1, max_ready=1, out=out)
    assert infos["env_id"].tolist() == [2]
    assert np.shares_memory(observations, out)
    assert values(out) == [70, 1, 1, 0]
    env.recv()


def test_wrappers_write_into_the_callers_array(three, open_gym):
    env = FrameStack(Resize(Grey(FrameSkip(open_gym(*three), skip=2)), width=7, height=5), size=2)
    env.reset()
    out = np.zeros((3, 5, 7, 2), np.uint8)
    env.send(np.zeros(3, np.int64))
    observations, *_ = env.recv(out=out)
    assert np.shares_memory(observations, out)
    assert (out == 1).all()


def test_the_pixels_of_dict_observations_are_written_into_the_callers_array(three, open_gym):
    env = Grey(open_gym(*three, observation="dict", reset_mode="mask", fill=9))
    env.reset()
    out = np.zeros((3, HEIGHT, WIDTH, 1), np.uint8)
    _send(env, 0, 1, 2)
    observations, *_ = env.recv(out=out)
    assert np.shares_memory(observations["vision"], out)
    assert set(values(out)) <= {1, 9}


def test_batches_that_cannot_be_are_refused(three, open_gym):
    env = open_gym(*three)
    env.reset()
    _send(env, 0, 1, 2)
    for counts in ({"max_ready": 2}, {"min_ready": 2, "max_ready": 1}, {"min_ready": 0, "max_ready": 0}):
        with pytest.raises(ConfigError, match="max_ready"):
            env.recv(**counts)
    for out in (
        np.zeros((2, *FRAME), np.uint8),
        np.zeros((3, *FRAME), np.int8),
        np.zeros((3, 4, 4, 3), np.uint8),
        [],
    ):
        with pytest.raises(ConfigError, match=r"must be an array of uint8 of shape \(3, 16, 24, 3\)"):
            env.recv(out=out)
    assert env.recv(min_ready=0, max_ready=2, out=np.zeros((2, *FRAME), np.uint8))[0].shape[0] <= 2
