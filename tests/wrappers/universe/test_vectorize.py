"""Vectorize: lists of one around wrappers of single values."""

from __future__ import annotations

import pytest

from tests.support.remotes.agent import one_step, until_running
from universe_client import ConfigError
from vnc.events import KeyEvent
from wrappers import Unvectorize, Vectorize, Wrapper


class Doubled(Wrapper):
    def recv(self, mask=None):
        observation, reward, done, info = self.env.recv(mask)
        return observation, 2 * reward, done, info


def test_a_wrapper_of_single_values_among_lists(scripted, open_env):
    remote = scripted()
    env = Vectorize(Doubled(Unvectorize(open_env(remote))))
    assert env.reset() == [None]
    until_running(env)
    remote.reward(4.0)
    remote.paint(7)
    step = one_step(env, [[("KeyEvent", "a", True)]])
    while not step.reward_n[0]:
        env.wait(5)
        step = one_step(env)
    assert step.reward_n == [8.0]
    assert step.info["env_status.env_state"] == "running"
    assert remote.wait_for_events(1) == [KeyEvent(97, True)]
    with pytest.raises(ConfigError, match="2 entries"):
        env.step([[], []])


def test_a_vector_is_refused(scripted, open_env):
    with pytest.raises(ConfigError, match="Vectorize needs single values: put it around Unvectorize"):
        Vectorize(open_env(scripted(), scripted()))
