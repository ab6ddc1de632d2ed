"""The frames of environments that Gymnasium draws with pygame."""

import gymnasium
import numpy as np
import pygame
import pytest

from rewarder.runtimes.gym import surfaces
from rewarder.runtimes.gym.core import GymCore

NAMES = ["CartPole-v1", "MountainCar-v0", "Acrobot-v1", "Pendulum-v1", "FrozenLake-v1", "Taxi-v4"]


@pytest.mark.parametrize("name", NAMES)
def test_frames_are_those_of_the_environment(name):
    runtime = GymCore(f"gym-core.{name}")
    runtime.open()
    assert runtime._render is surfaces.render
    env = gymnasium.make(name, render_mode="rgb_array")
    env.reset(seed=5)
    frame = runtime.reset(f"gym-core.{name}", 5).frame
    assert np.array_equal(frame, env.render())
    assert frame.flags.c_contiguous and frame.flags.writeable
    runtime.close()
    env.close()


@pytest.mark.parametrize("flags, depth", [(0, 32), (pygame.SRCALPHA, 32), (0, 24)])
def test_surfaces_of_other_formats_too(flags, depth):
    surface = pygame.Surface((7, 5), flags, depth)
    for x in range(7):
        for y in range(5):
            surface.set_at((x, y), (x * 30, y * 50, 200 - x, 99))
    expected = np.array(pygame.surfarray.pixels3d(surface))
    assert np.array_equal(surfaces.pixels(surface), expected)
    part = surface.subsurface((2, 1, 4, 3))
    assert np.array_equal(surfaces.pixels(part), expected[2:6, 1:4])


def test_masks_in_another_order():
    surface = pygame.Surface((3, 2), 0, 32, (0xFF, 0xFF00, 0xFF0000, 0))
    surface.fill((10, 20, 30))
    assert (surfaces.pixels(surface) == (10, 20, 30)).all()


def test_pygame_is_unchanged_afterwards_also_after_an_error():
    class Failing:
        def render(self):
            assert pygame.surfarray.pixels3d is surfaces.pixels
            raise RuntimeError("no picture")

    original = pygame.surfarray.pixels3d
    with pytest.raises(RuntimeError, match="no picture"):
        surfaces.render(Failing())
    assert pygame.surfarray.pixels3d is original


def test_an_environment_with_a_wrapper_of_somebody_renders_as_it_does():
    env = gymnasium.wrappers.TransformReward(gymnasium.make("CartPole-v1", render_mode="rgb_array"), float)
    runtime = GymCore("gym-core.CartPole-v1")
    runtime._open(env)
    assert env.spec.additional_wrappers and runtime._render is not surfaces.render
    runtime.close()
