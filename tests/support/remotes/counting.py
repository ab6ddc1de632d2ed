"""A Gymnasium environment that pays 1 per step and shows how many steps its episode has had."""

from __future__ import annotations

from typing import ClassVar

import gymnasium
import numpy as np


class Counting(gymnasium.Env):
    """Its env id is `gym-core.tests.support.remotes.counting:Counting`."""

    metadata: ClassVar = {"render_modes": ["rgb_array"], "render_fps": 20}
    observation_space = gymnasium.spaces.Box(0, 1, (1,))
    action_space = gymnasium.spaces.Discrete(2)

    def __init__(self, render_mode=None):
        self.steps = 0

    def reset(self, *, seed=None, options=None):
        self.steps = 0
        return np.zeros(1, np.float32), {}

    def step(self, action):
        self.steps += 1
        return np.zeros(1, np.float32), 1.0, False, False, {}

    def render(self):
        return np.full((16, 16, 3), (self.steps >> 8, self.steps & 255, 0), np.uint8)


def shown(vision):
    """Return the number of steps that a frame shows."""
    high, low, _ = vision[0, 0]
    return 256 * int(high) + int(low)
