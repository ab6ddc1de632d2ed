"""What a learner's actions become on the wire."""

from __future__ import annotations

import numpy as np
import pytest
from gymnasium.spaces import Box, Dict, Discrete, MultiBinary
from hypothesis import given
from hypothesis import strategies as st

from universe_client.core.input.held import HeldInput
from universe_client.errors import ConfigError
from universe_client.spaces.action_maps import Events, Keys, KeysAndPointer, KeySets, Pointer, action_map
from universe_client.spaces.events import EventSpace
from vnc.events import KeyEvent, PointerEvent
from vnc.keysyms import keysym

SCREEN = (320, 240)
A, B, C = ord("a"), ord("b"), ord("c")
NAMES = ("a", "b", "c", "Left", "shift")


def down(*keys: int) -> list[KeyEvent]:
    return [KeyEvent(key, True) for key in keys]


def up(*keys: int) -> list[KeyEvent]:
    return [KeyEvent(key, False) for key in keys]


def test_a_set_of_keys_is_held_until_another_action():
    keys = KeySets([(), "a", ("a", "b"), ("c",)])
    assert keys.space(*SCREEN) == Discrete(4)
    assert keys.events(1, ((), None), SCREEN) == down(A)
    assert keys.events(1, ((A,), None), SCREEN) == []
    assert keys.events(np.int64(2), ((A,), None), SCREEN) == down(B)
    assert keys.events(3, ((A, B), None), SCREEN) == up(B, A) + down(C)
    assert keys.events(0, ((C,), None), SCREEN) == up(C)


@given(st.lists(st.sets(st.sampled_from(NAMES)), min_size=1), st.data())
def test_after_any_actions_exactly_the_last_ones_keys_are_down(key_sets, data):
    keys = KeySets([tuple(names) for names in key_sets])
    held = HeldInput()
    for number in data.draw(st.lists(st.integers(0, len(key_sets) - 1), min_size=1)):
        held.note(keys.events(number, (held.keys, held.pointer), SCREEN))
        assert set(held.keys) == {keysym(name) for name in key_sets[number]}


def test_bits_hold_keys():
    keys = Keys(["a", "b"])
    assert keys.space(*SCREEN) == MultiBinary(2)
    assert keys.events(np.array([1, 0], np.int8), ((B,), None), SCREEN) == up(B) + down(A)
    for wrong in ([1], [1, 2], "ab", [0.5, 0]):
        with pytest.raises(ConfigError, match="is not an array of 2 bits"):
            keys.events(wrong, ((), None), SCREEN)


@pytest.mark.parametrize(
    ("action", "event"),
    [
        ([-1, -1, -1], PointerEvent(0, 0, 0)),
        ([1, 1, 1], PointerEvent(319, 239, 1)),
        ([0, 0, 0], PointerEvent(160, 120, 0)),
        ([7, -7, 0.1], PointerEvent(319, 0, 1)),
    ],
)
def test_the_pointer_goes_where_the_box_says(action, event):
    pointer = Pointer()
    assert pointer.space(*SCREEN) == Box(-1, 1, (3,), np.float32)
    assert pointer.events(np.array(action, np.float32), ((), None), SCREEN) == [event]
    assert pointer.events(np.array(action, np.float32), ((), event), SCREEN) == []


def test_pointers_have_the_buttons_that_they_are_given():
    assert Pointer(buttons=()).space(*SCREEN).shape == (2,)
    assert Pointer(buttons=(1, 4)).events([0, 0, -1, 1], ((), None), SCREEN) == [PointerEvent(160, 120, 4)]
    with pytest.raises(ConfigError, match="buttons"):
        Pointer(buttons=(3,))
    for wrong in ([0, 0], [0, 0, np.nan], [[0, 0, 0]]):
        with pytest.raises(ConfigError, match="3 finite numbers"):
            Pointer().events(wrong, ((), None), SCREEN)


def test_keys_and_pointer_go_together():
    both = KeysAndPointer(KeySets(["a", "b"]), Pointer(()))
    assert both.space(*SCREEN) == Dict(keys=Discrete(2), pointer=Box(-1, 1, (2,), np.float32))
    action = {"keys": 1, "pointer": np.array([-1, -1])}
    assert both.events(action, ((A,), None), SCREEN) == [PointerEvent(0, 0, 0), *up(A), *down(B)]
    with pytest.raises(ConfigError, match="not a dict"):
        both.events([1], ((), None), SCREEN)


def test_events_go_as_they_are():
    events = Events(keys=["a"], button_masks=[0])
    assert events.space(*SCREEN) == EventSpace(*SCREEN, keys=["a"], button_masks=[0])
    assert events.events([("KeyEvent", "a", True)], ((A,), None), SCREEN) == down(A)
    with pytest.raises(ConfigError, match="not an event"):
        events.events(["a"], ((), None), SCREEN)


@pytest.mark.parametrize("number", [-1, 4, 1.5, None, "a", [1]])
def test_a_number_outside_of_the_sets_is_refused(number):
    with pytest.raises(ConfigError, match="action"):
        KeySets([(), "a", "b", "c"]).events(number, ((), None), SCREEN)


def test_what_an_actions_argument_may_be():
    assert action_map(None).space(*SCREEN) == Discrete(6)
    assert isinstance(action_map("events"), Events)
    assert action_map([(), "a"]).space(*SCREEN) == Discrete(2)
    keys = Keys(["a"])
    assert action_map(keys) is keys
    for wrong, message in (("keys", "'keys' is neither"), ([], "no actions"), ([("nokey",)], "nokey")):
        with pytest.raises(ConfigError, match=message):
            action_map(wrong)
    with pytest.raises(ConfigError, match="no keys"):
        Keys([])
