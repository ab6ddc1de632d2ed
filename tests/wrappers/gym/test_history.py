"""FrameStack and MaxFrames combine the last frames of an episode, and never those of two episodes."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.remotes.gym import new_value, open_gym, step_until, three
from tests.support.vnc.film import Film, flat
from universe_client import ConfigError
from universe_client.spaces.pixel_box import PixelBox
from wrappers import FrameStack, MaxFrames

__all__ = ["open_gym", "three"]

# -- FrameStack


def stacks(observations):
    """Return the value of each frame in each row's stack."""
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


# -- MaxFrames


def shown(observations):
    return observations[:, 0, 0, 0].tolist()


def test_r1_two_frame_max():
    frames = np.random.default_rng(1).integers(0, 256, (6, 2, 8, 9, 3), dtype=np.uint8)
    env = MaxFrames(Film(frames))
    assert np.array_equal(env.reset()[0], frames[0])
    for step in range(1, 6):
        assert np.array_equal(env.step([0, 0])[0], np.maximum(frames[step - 1], frames[step]))
    assert np.array_equal(env.reset()[0], frames[0])


def test_the_maximum_excludes_the_frame_of_the_episode_before():
    env = MaxFrames(Film(flat([[9], [8], [3], [2]]), dones={1: [0]}))
    env.reset()
    assert [shown(env.step([0])[0]) for _ in range(3)] == [[9], [3], [3]]


def test_the_maximum_of_a_repeated_frame_is_that_frame(three, open_gym):
    env = MaxFrames(open_gym(*three))
    env.reset()
    three[1].paint(150)
    step_until(env, new_value(1, 150))
    three[1].paint(120)
    blended = step_until(env, new_value(1, 120))
    assert shown(blended[-1][0]) == [1, 120, 1]
    assert 150 in [shown(result[0])[1] for result in blended]
    numbers = [env.step(np.zeros(3, int))[4]["frame_number"].tolist()]

    def nothing_to_redo(result):
        """Return whether the frame is the same as before; a probe of the connection may send the same pixels again."""
        numbers.append(result[4]["frame_number"].tolist())
        return numbers[-1] == numbers[-2]

    step_until(env, nothing_to_redo)


def test_a_wrapper_outside_of_max_frames_sees_every_change():
    stack = FrameStack(MaxFrames(Film(flat([[1], [5], [3], [3], [3]]))), size=1)
    stack.reset()
    assert [shown(stack.step([0])[0]) for _ in range(4)] == [[5], [5], [3], [3]]
