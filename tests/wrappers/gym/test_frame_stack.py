"""Stacks show the last frames, and never those of another episode."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.film import Film, flat
from universe_client import ConfigError
from universe_client.spaces.pixel_box import PixelBox
from wrappers import FrameStack


def stacks(observations):
    """The value of each frame in each row's stack."""
    assert (observations == observations[:, :1, :1]).all()
    return observations[:, 0, 0, ::3].tolist()


def test_the_newest_frame_is_the_last():
    env = FrameStack(Film(flat([[1, 10], [2, 20], [3, 30], [4, 40]])), size=3)
    assert env.observation_space == PixelBox((2, 2, 2, 9))
    assert stacks(env.reset()[0]) == [[1, 1, 1], [10, 10, 10]]
    assert stacks(env.step([0, 0])[0]) == [[1, 1, 2], [10, 10, 20]]
    assert stacks(env.step([0, 0])[0]) == [[1, 2, 3], [10, 20, 30]]
    assert stacks(env.step([0, 0])[0]) == [[2, 3, 4], [20, 30, 40]]
    assert stacks(env.reset()[0]) == [[1, 1, 1], [10, 10, 10]]


def test_an_episode_begins_with_its_first_frame_only():
    env = FrameStack(Film(flat([[1, 10], [2, 20], [3, 30], [4, 40]]), dones={1: [1]}), size=2)
    env.reset()
    observations, _, terminations, *_ = env.step([0, 0])
    assert (stacks(observations), terminations.tolist()) == ([[1, 2], [10, 20]], [False, True])
    assert stacks(env.step([0, 0])[0]) == [[2, 3], [30, 30]]
    assert stacks(env.step([0, 0])[0]) == [[3, 4], [30, 40]]


def test_the_frames_of_a_row_that_resets_do_not_count():
    frames = flat([[1, 10], [2, 20], [3, 20], [4, 40], [5, 50]])
    env = FrameStack(Film(frames, dones={1: [1]}, resetting={2: [1]}), size=2)
    env.reset()
    env.step([0, 0])
    assert stacks(env.step([0, 0])[0]) == [[2, 3], [20, 20]]
    assert stacks(env.step([0, 0])[0]) == [[3, 4], [40, 40]]
    assert stacks(env.step([0, 0])[0]) == [[4, 5], [40, 50]]


def test_a_reset_mask_leaves_the_other_stacks_alone():
    env = FrameStack(Film(flat([[1, 10], [2, 20], [3, 30]])), size=2)
    env.reset()
    env.step([0, 0])
    observations, _ = env.reset(options={"reset_mask": np.array([False, True])})
    assert stacks(observations) == [[1, 2], [20, 20]]
    assert stacks(env.step([0, 0])[0]) == [[2, 3], [20, 30]]


def test_observations_are_the_callers_to_keep():
    env = FrameStack(Film(flat([[1], [2]])), size=2)
    kept, _ = env.reset()
    env.step([0])
    assert stacks(kept) == [[1, 1]]
    assert stacks(FrameStack(Film(flat([[1], [2]])), size=1).reset()[0]) == [[1]]
    with pytest.raises(ConfigError, match="size=0"):
        FrameStack(Film(flat([[1]])), size=0)
