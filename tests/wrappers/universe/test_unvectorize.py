"""Unvectorize: single values instead of lists of one."""

from __future__ import annotations

import pytest

from universe_client import ConfigError
from vnc.events import KeyEvent
from wrappers import BlockingReset, Unvectorize


def test_single_values_in_and_out(scripted, open_env):
    remote = scripted()
    env = Unvectorize(BlockingReset(open_env(remote)))
    observation = env.reset(seed=3)
    assert remote.next_reset().seed == 3
    assert observation["vision"].shape == (16, 24, 3)
    observation, reward, done, info = env.step([("KeyEvent", "a", True)])
    assert remote.wait_for_events(1) == [KeyEvent(97, True)]
    assert observation["text"] == []
    assert (reward, done) == (0.0, False)
    assert info["env_status.env_state"] == "running"


def test_a_vector_of_two_is_refused(scripted, open_env):
    with pytest.raises(ConfigError, match="not of 2"):
        Unvectorize(open_env(scripted(), scripted()))
