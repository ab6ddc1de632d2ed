"""GymWrapper passes calls and attributes to the wrapped environment."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.remotes.gym import noop, open_gym, three
from wrappers import GymWrapper

__all__ = ["open_gym", "three"]


class Tracing(GymWrapper):
    """Records the rows of each call of `actions` and `results`."""

    def __init__(self, env):
        super().__init__(env)
        self.sent, self.received = [], []

    def actions(self, rows, actions):
        self.sent.append(rows.tolist())
        return actions

    def results(self, rows, result):
        self.received.append(rows.tolist())
        return result


def test_a_step_and_its_halves_pass_through_the_same_hooks(three, open_gym):
    env = Tracing(open_gym(*three))
    env.reset()
    env.step(noop(env))
    env.send(np.array([0, 0]), [2, 0])
    env.recv()
    assert env.sent == [[0, 1, 2], [2, 0]]
    assert env.received == [[0, 1, 2], [0, 2]]


def test_attributes_of_what_is_wrapped_are_in_reach(three, open_gym):
    env = Tracing(GymWrapper(open_gym(*three)))
    assert env.call("state") == env.unwrapped.call("state")
    assert env.core is env.unwrapped.core
    with pytest.raises(AttributeError, match="_secret"):
        _ = env._secret
