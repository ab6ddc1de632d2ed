"""R1: what flickers is always there."""

from __future__ import annotations

import numpy as np

from tests.support.film import Film, flat
from tests.support.gym import new_value, open_gym, step_until, three
from wrappers import FrameStack, MaxFrames

__all__ = ["open_gym", "three"]


def shown(observations):
    return observations[:, 0, 0, 0].tolist()


def test_r1_two_frame_max():
    frames = np.random.default_rng(1).integers(0, 256, (6, 2, 8, 9, 3), dtype=np.uint8)
    env = MaxFrames(Film(frames))
    assert np.array_equal(env.reset()[0], frames[0])
    for step in range(1, 6):
        assert np.array_equal(env.step([0, 0])[0], np.maximum(frames[step - 1], frames[step]))
    assert np.array_equal(env.reset()[0], frames[0])


def test_an_episode_begins_without_the_frame_before():
    env = MaxFrames(Film(flat([[9], [8], [3], [2]]), dones={1: [0]}))
    env.reset()
    assert [shown(env.step([0])[0]) for _ in range(3)] == [[9], [3], [3]]


def test_a_frame_that_was_seen_twice_leaves_nothing_of_the_one_before(three, open_gym):
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
        """A probe of the connection may bring the same pixels again, now and then."""
        numbers.append(result[4]["frame_number"].tolist())
        return numbers[-1] == numbers[-2]

    step_until(env, nothing_to_redo)


def test_what_is_outside_redoes_blended_rows():
    stack = FrameStack(MaxFrames(Film(flat([[1], [5], [3], [3], [3]]))), size=1)
    stack.reset()
    assert [shown(stack.step([0])[0]) for _ in range(4)] == [[5], [5], [3], [3]]
