"""Crop, Resize, Grey and their base class convert the frames of all remotes."""

from __future__ import annotations

from dataclasses import replace

import gymnasium
import numpy as np
import pytest
from gymnasium.spaces import Dict
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from tests.support.fixtures import QUICK
from tests.support.remotes.gym import new_value, noop, open_gym, step_until, three, values
from tests.support.vnc.film import Film, flat
from universe_client import ConfigError
from universe_client.gym.check import check_vector_env
from universe_client.spaces.pixel_box import PixelBox
from wrappers import Crop, FrameStack, Grey, PixelWrapper, Resize, RewardClip, StickyActions

__all__ = ["open_gym", "three"]
NOISE = np.random.default_rng(1).integers(0, 256, (3, 2, 30, 40, 3), dtype=np.uint8)


def test_crop_keeps_the_rectangle():
    env = Crop(Film(NOISE), x=5, y=3, width=10, height=7)
    assert env.single_observation_space == PixelBox((7, 10, 3))
    assert env.observation_space == PixelBox((2, 7, 10, 3))
    observations, _ = env.reset()
    assert np.array_equal(observations, NOISE[0][:, 3:10, 5:15])
    observations, *_ = env.step([0, 0])
    assert observations in env.observation_space
    assert np.array_equal(observations, NOISE[1][:, 3:10, 5:15])


@pytest.mark.parametrize("box", [(-1, 0, 5, 5), (0, 0, 41, 5), (36, 0, 5, 5), (0, 26, 5, 5), (0, 0, 0, 5)])
def test_a_rectangle_outside_of_the_screen_is_refused(box):
    with pytest.raises(ConfigError, match="not within frames of 40x30"):
        Crop(Film(NOISE), *box)


def test_resize_by_a_whole_number_is_the_mean_of_each_block():
    env = Resize(Film(NOISE), width=20, height=10)
    observations, _ = env.reset()
    blocks = NOISE[0].reshape(2, 10, 3, 20, 2, 3).astype(float).mean(axis=(2, 4))
    assert np.abs(observations - blocks).max() <= 0.51
    assert observations in env.observation_space


def test_resize_agrees_with_pillows_box_filter():
    observations, _ = Resize(Film(NOISE), width=13, height=7).reset()
    for row, frame in enumerate(NOISE[0]):
        expected = np.asarray(Image.fromarray(frame).resize((13, 7), Image.Resampling.BOX, reducing_gap=None))
        exact = _area(frame, 13, 7)
        assert np.abs(observations[row] - exact).max() <= 0.51
        assert np.abs(observations[row].astype(int) - expected).mean() < 12, "pillow counts whole pixels only"


def _area(frame, width, height):
    """Return exact area averages, computed from a picture in which every pixel is enlarged to a block."""
    large = frame.repeat(height, axis=0).repeat(width, axis=1).astype(float)
    return large.reshape(height, frame.shape[0], width, frame.shape[1], 3).mean(axis=(1, 3))


@settings(max_examples=50)
@given(st.integers(1, 50), st.integers(1, 50), st.integers(0, 255))
def test_an_even_screen_stays_what_it_is(width, height, value):
    frames = np.full((1, 1, 30, 40, 3), value, np.uint8)
    observations, _ = Resize(Film(frames), width, height).reset()
    assert observations.shape == (1, height, width, 3)
    assert (observations == value).all()


def test_a_size_of_nothing_is_refused():
    with pytest.raises(ConfigError, match="0x5"):
        Resize(Film(NOISE), 0, 5)


def test_grey_is_the_brightness_that_pillow_sees():
    observations, _ = Grey(Film(NOISE)).reset()
    assert observations.shape == (2, 30, 40, 1)
    for row, frame in enumerate(NOISE[0]):
        expected = np.asarray(Image.fromarray(frame).convert("L"), int)
        assert np.abs(observations[row, ..., 0] - expected).max() <= 1
    white = np.full((1, 1, 2, 2, 3), 255, np.uint8)
    assert (Grey(Film(white)).reset()[0] == 255).all()


def test_what_is_given_is_not_written_into():
    film = Film(NOISE)
    film.frames.flags.writeable = False
    FrameStack(Grey(Resize(Crop(film, 0, 0, 20, 20), 8, 8))).reset()
    assert np.array_equal(film.frames, NOISE)


def test_the_vision_of_dict_observations_is_changed_and_the_text_kept():
    env = Grey(Film(NOISE, as_dict=True))
    assert isinstance(env.single_observation_space, Dict)
    assert env.single_observation_space["vision"] == PixelBox((30, 40, 1))
    observations, _ = env.reset()
    assert observations in env.observation_space
    assert observations["text"] == ([], [])


def test_what_has_no_pixels_is_refused():
    cart = gymnasium.make_vec("CartPole-v1", num_envs=2)
    with pytest.raises(ConfigError, match="Grey needs observations that are frames"):
        Grey(cart)
    cart.close()


def test_the_base_class_is_enough_for_a_wrapper_of_ones_own():
    class Negative(PixelWrapper):
        def pixels(self, frame):
            return 255 - frame

    assert (Negative(Film(flat([[1, 2]]))).reset()[0][1] == 253).all()


class Counting(PixelWrapper):
    """Records the values of the frames that it converts."""

    def __init__(self, env):
        self.seen = []
        super().__init__(env)

    def pixels(self, frame):
        self.seen.append(int(frame[0, 0, 0]))
        return frame


def test_only_rows_with_a_new_frame_are_redone(three, open_gym):
    unprobed = replace(QUICK, probe_interval=300.0)  # the answer to a probe is also a frame
    env = Counting(open_gym(*three, timeouts=unprobed))
    env.reset()
    assert env.seen == [1, 1, 1]
    for number in (101, 102):
        three[1].paint(number)
        observations = step_until(env, new_value(1, number))[-1][0]
        assert values(observations) == [1, number, 1]
    assert env.seen == [1, 1, 1, 101, 102]


def test_rows_are_redone_after_a_loss_a_reset_and_a_fill(three, open_gym):
    env = Grey(open_gym(*three, reset_mode="mask", fill=200))
    env.reset()
    step_until(env, lambda result: values(result[0]) == [1, 1, 1])
    three[0].stop()
    step_until(env, lambda result: values(result[0]) == [200, 1, 1])
    three[0].start()
    step_until(env, lambda result: values(result[0]) == [2, 1, 1])
    env.reset(options={"reset_mask": np.array([False, True, False])})
    step_until(env, lambda result: values(result[0]) == [2, 2, 1])


def test_send_and_recv_of_some_rows_pass_through_every_wrapper(three, open_gym):
    env = RewardClip(FrameStack(StickyActions(Crop(open_gym(*three), 0, 0, 4, 3), probability=0.0), size=2))
    env.reset()
    three[2].reward(7.0)
    three[2].paint(103)
    env.send(np.array([2, 0]), [2, 0])
    three[2].wait_for_events(1)
    while True:
        observations, rewards, *_, infos = env.recv(min_ready=1)
        rows = infos["env_id"].tolist()  # with row 0, if a late copy of its first frame has come
        assert rows and set(rows) <= {0, 2} and observations.shape == (len(rows), 3, 4, 6)
        if 2 in rows and observations[-1, 0, 0, 3] == 103:
            break
        env.send(np.full(len(rows), 2), rows)
    assert observations[-1, 0, 0].tolist() == [1, 1, 1, 103, 103, 103]
    assert not infos["sticky"].any()
    assert rewards.max() <= 1


def test_what_is_wrapped_lends_and_the_outermost_copies(three, open_gym):
    inner = open_gym(*three)
    middle = Crop(inner, 0, 0, 8, 8)
    outer = Grey(RewardClip(middle))
    assert (inner.copy, middle.copy, outer.copy) == (False, False, True)
    kept, _ = outer.reset()
    three[0].paint(104)
    step_until(outer, new_value(0, 104))
    assert values(kept) == [1, 1, 1]
    outer.copy = False
    assert outer.step(noop(outer))[0] is outer.step(noop(outer))[0]


def test_all_of_them_over_shipped_remotes_keep_the_contract():
    env = gymnasium.make_vec("universe/NeonDrive-v0", num_envs=2, step_rate=60, max_episode_steps=20)
    try:
        env = Crop(env, x=0, y=40, width=320, height=200)
        env = FrameStack(Grey(Resize(env, width=84, height=84)), size=4)
        env = StickyActions(RewardClip(env), probability=0.25)
        assert env.single_observation_space == PixelBox((84, 84, 4))
        check_vector_env(env, steps=50)
    finally:
        env.close()
