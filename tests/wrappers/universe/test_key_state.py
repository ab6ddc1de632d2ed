"""KeyState converts actions of a Gymnasium space to events."""

from __future__ import annotations

import numpy as np
import pytest
from gymnasium.spaces import Box, Discrete, MultiBinary

from tests.support.remotes.remote import HEIGHT, WIDTH
from universe_client import ConfigError
from universe_client.spaces.action_maps import Keys, Pointer
from vnc.events import KeyEvent, PointerEvent
from wrappers import BlockingReset, KeyState

LEFT, UP = 0xFF51, 0xFF52


def test_sets_of_keys_are_held_on_each_remote(scripted, playing):
    one, other = scripted(), scripted()
    env = KeyState(playing(one, other), [(), "Left", ("Up", "Left")])
    assert env.action_space == Discrete(3)
    env.step([1, 0])
    env.step([2, None])
    env.step([np.int64(0), 2])
    assert one.wait_for_events(4) == [
        KeyEvent(LEFT, True),
        KeyEvent(UP, True),
        KeyEvent(UP, False),
        KeyEvent(LEFT, False),
    ]
    assert other.wait_for_events(2) == [KeyEvent(UP, True), KeyEvent(LEFT, True)]


def test_bits_are_keys(scripted, playing):
    remote = scripted()
    env = KeyState(playing(remote), Keys(["Left", "Up"]))
    assert env.action_space == MultiBinary(2)
    env.step([np.array([0, 1])])
    assert remote.wait_for_events(1) == [KeyEvent(UP, True)]


def test_the_pointer_goes_where_the_remotes_own_screen_ends(scripted, playing):
    remote = scripted()
    env = KeyState(playing(remote), Pointer())
    assert isinstance(env.action_space, Box)
    env.step([np.array([1.0, 1.0, 1.0])])
    assert remote.wait_for_events(1) == [PointerEvent(WIDTH - 1, HEIGHT - 1, 1)]


def test_what_is_held_is_forgotten_at_the_end_of_an_episode(scripted, open_env):
    remote = scripted()
    env = KeyState(BlockingReset(open_env(remote)), [(), "Left"])
    env.reset()
    env.step([1])
    remote.wait_for_events(1)
    remote.finish()
    remote.next_episode()
    assert remote.wait_for_events(2)[-1] == KeyEvent(LEFT, False)
    while not env.step([None])[2][0]:
        pass
    env.step([1])
    assert remote.wait_for_events(3)[-1] == KeyEvent(LEFT, True)


def test_a_wrong_action_is_refused_before_anything_is_sent(scripted, playing):
    one, other = scripted(), scripted()
    env = KeyState(playing(one, other))
    with pytest.raises(ConfigError, match="remote 1: action 6 is not within"):
        env.step([1, 6])
    with pytest.raises(ConfigError, match="1 entries for 2 remotes"):
        env.step([1])
    env.step([2, 2])
    assert one.wait_for_events(1)[0].keysym == 0xFF53
    assert len(one.events) == 1
