"""Crop, Grey and Resize leave their work to the environment below them where they can."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.remotes.gym import new_value, noop, open_gym, step_until, three, values
from tests.support.remotes.remote import HEIGHT, WIDTH
from tests.support.vnc.film import Film
from universe_client import ConfigError
from universe_client.gym.vector_env import GymVectorEnv
from universe_client.spaces.pixel_box import PixelBox
from vnc.pixels.reduction import Reduction
from vnc.server.server import VNCServer
from wrappers import Crop, EpisodicLives, FrameSkip, FrameStack, Grey, MaxFrames, Resize, RewardClip

__all__ = ["open_gym", "three"]
SHAPE = (HEIGHT, WIDTH, 3)


def _picture(seed: int):
    return np.random.default_rng(seed).integers(0, 256, SHAPE, np.uint8)


def _expected(reduction, *pictures):
    outs = np.zeros((len(pictures), *reduction.shape), np.uint8)
    for picture, out in zip(pictures, outs, strict=True):
        reduction.draw(picture, out)
    return outs


async def _present(server, frame):
    server.present(frame)


def _until(env, expected):
    return step_until(env, lambda result: np.array_equal(result[0], expected))[-1]


def test_the_environment_draws_what_the_wrappers_ask_for(three, open_gym):
    env = open_gym(*three)
    wrapped = RewardClip(FrameSkip(EpisodicLives(env), skip=2))
    wrapped = Resize(Grey(Crop(wrapped, x=2, y=1, width=20, height=12)), width=7, height=5)
    reduction = Reduction.whole(SHAPE).crop(2, 1, 20, 12).resize(7, 5).to_grey()
    assert env.reduction == reduction
    for each in (env, wrapped):
        assert each.single_observation_space == PixelBox((5, 7, 1))
        assert each.observation_space == PixelBox((3, 5, 7, 1))
    assert env.facades[1].observation_space == PixelBox((5, 7, 1))
    kept, _ = wrapped.reset()
    assert values(kept) == [1, 1, 1]
    pictures = [_picture(row) for row in range(3)]
    for remote, picture in zip(three, pictures, strict=True):
        remote.show(picture)
    observations = _until(wrapped, _expected(reduction, *pictures))[0]
    assert observations in wrapped.observation_space
    assert values(kept) == [1, 1, 1], "observations belong to the caller"
    assert all(remote.view.screen.shape == SHAPE for remote in env.core.remotes)


def test_frames_between_wrapper_and_environment_are_not_copied(three, open_gym):
    env = open_gym(*three)
    middle = Crop(MaxFrames(env), x=0, y=0, width=8, height=8)
    env.reset()
    assert env.step(noop(env))[0] is env.step(noop(env))[0]
    assert (env.copy, middle.copy) == (False, True)


def test_rendered_frames_stay_whole(three, open_gym):
    env = Resize(Grey(open_gym(*three)), width=7, height=5)
    env.reset()
    pictures = [_picture(row) for row in range(3)]
    for remote, picture in zip(three, pictures, strict=True):
        remote.show(picture)
    _until(env, _expected(env.unwrapped.reduction, *pictures))
    assert np.array_equal(env.render(), pictures)
    pictures[1] = _picture(7)
    three[1].show(pictures[1])
    _until(env, _expected(env.unwrapped.reduction, *pictures))
    assert np.array_equal(env.render(), pictures)
    assert np.array_equal(env.unwrapped.call("render")[1], pictures[1])
    assert env.unwrapped.render()[0].shape == SHAPE


def test_wrapped_in_the_middle_of_an_episode_it_shows_the_same_frame(three, open_gym):
    inner = open_gym(*three)
    inner.reset()
    picture = _picture(3)
    three[0].show(picture)
    step_until(inner, lambda result: np.array_equal(result[0][0], picture))
    env = Resize(inner, width=7, height=5)
    expected = _expected(env.unwrapped.reduction, picture)[0]
    assert np.array_equal(inner._rows.frames[0], expected)
    assert np.array_equal(env.step(noop(env))[0][0], expected)


def test_a_wrapper_that_needs_whole_frames_gets_them(three, open_gym):
    env = open_gym(*three)
    lowest = Crop(MaxFrames(env), x=0, y=0, width=20, height=12)
    wrapped = FrameStack(Resize(Grey(RewardClip(lowest)), width=7, height=5), size=2)
    assert env.single_observation_space == PixelBox(SHAPE)
    assert lowest.reduction == Reduction.whole(SHAPE).crop(0, 0, 20, 12).resize(7, 5).to_grey()
    assert wrapped.reset()[0].shape == (3, 5, 7, 2)
    three[1].paint(104)
    observations = step_until(wrapped, lambda result: result[0][1, 0, 0].tolist() == [104, 104])[-1][0]
    assert observations[:, 0, 0].tolist() == [[1, 1], [104, 104], [1, 1]]


def test_what_one_reduction_cannot_do_is_done_by_two():
    frames = np.random.default_rng(2).integers(0, 256, (3, 2, 30, 40, 3), np.uint8)
    env = Resize(
        Crop(Resize(Film(frames), width=20, height=15), x=3, y=2, width=10, height=10), width=5, height=4
    )
    once = _expected(Reduction.whole((30, 40, 3)).resize(20, 15), *frames[0])
    expected = _expected(Reduction.whole((15, 20, 3)).crop(3, 2, 10, 10).resize(5, 4), *once)
    assert np.array_equal(env.reset()[0], expected)
    with pytest.raises(ConfigError, match="not of 1 channels"):
        Grey(Grey(Film(frames)))
    with pytest.raises(ConfigError, match="not within frames of 10x10"):
        Crop(Crop(Film(frames), x=0, y=0, width=10, height=10), x=1, y=0, width=10, height=10)


def test_a_subclass_converts_its_frames_itself(three, open_gym):
    class Darker(Grey):
        def pixels(self, frame):
            return super().pixels(frame) // 2

    env = open_gym(*three)
    dark = Darker(env)
    assert env.single_observation_space == PixelBox(SHAPE)
    dark.reset()
    three[0].paint(100)
    step_until(dark, new_value(0, 50))


def test_pixels_of_dict_observations_are_reduced(three, open_gym):
    env = Grey(open_gym(*three, observation="dict"))
    observations, _ = env.reset()
    assert observations in env.observation_space
    assert observations["vision"].shape == (3, HEIGHT, WIDTH, 1)
    assert env.unwrapped.single_observation_space["vision"] == PixelBox((HEIGHT, WIDTH, 1))


def test_a_screen_of_another_size_is_fitted_before_it_is_reduced(scripted, far_side, open_gym):
    remote = scripted(has_rewarder=False)
    env = open_gym(remote, letterbox=True, screen_size=(WIDTH + 8, HEIGHT + 4))
    wrapped = Resize(Grey(env), width=8, height=5)
    wrapped.reset()
    picture, boxed = _picture(5), np.zeros((HEIGHT + 4, WIDTH + 8, 3), np.uint8)
    boxed[:HEIGHT, :WIDTH] = picture
    remote.show(picture)
    _until(wrapped, _expected(env.reduction, boxed))
    assert np.array_equal(env.render()[0], boxed)
    remote.stop_vnc()
    large = VNCServer(WIDTH + 8, HEIGHT + 4)
    far_side.run(large.start(port=remote.address.vnc.port), 60)
    boxed[...] = 77
    far_side.run(_present(large, boxed), 60)
    _until(wrapped, _expected(env.reduction, boxed))
    far_side.run(large.close(), 60)


def test_lock_step_finds_the_frame_of_each_tick(driver):
    frames = {}
    for wrap in (lambda env: env, lambda env: Resize(Grey(env), width=21, height=13)):
        with GymVectorEnv(
            "builtin.NeonDrive-v0", 1, mode="lockstep", driver=driver, reset_timeout=120.0
        ) as env:
            wrapped = wrap(env)
            shown = [wrapped.reset(seed=5)[0], *(wrapped.step(np.array([step % 3]))[0] for step in range(12))]
            frames[wrapped is env] = np.concatenate(shown)
            reduction = env.reduction
    assert np.array_equal(frames[False], _expected(reduction, *frames[True]))
    assert len(np.unique(frames[False], axis=0)) > 5
