"""The keys that are down, once per tick."""

from rewarder.sdk.keys import LEFT, RIGHT, HeldKeys
from vnc.events import KeyEvent, PointerEvent


def test_a_key_is_held_until_it_is_released():
    keys = HeldKeys()
    assert keys.tick([KeyEvent(LEFT, True)]) == {LEFT}
    assert keys.tick([]) == {LEFT}
    assert keys.tick([KeyEvent(LEFT, False)]) == set()


def test_one_key_for_another_is_never_both():
    keys = HeldKeys()
    keys.tick([KeyEvent(LEFT, True)])
    assert keys.tick([KeyEvent(LEFT, False), KeyEvent(RIGHT, True)]) == {RIGHT}


def test_pressed_and_released_within_a_tick_counts_for_that_tick():
    keys = HeldKeys()
    assert keys.tick([KeyEvent(LEFT, True), KeyEvent(LEFT, False)]) == {LEFT}
    assert keys.tick([]) == set()


def test_shift_between_press_and_release_leaves_no_letter_held():
    keys = HeldKeys()
    keys.tick([KeyEvent(ord("a"), True)])
    keys.tick([KeyEvent(ord("A"), False)])
    assert keys.tick([]) == set()


def test_pointers_and_strange_releases_are_no_keys():
    keys = HeldKeys()
    assert keys.tick([PointerEvent(1, 1, 1), KeyEvent(RIGHT, False)]) == set()


def test_clear_forgets():
    keys = HeldKeys()
    keys.tick([KeyEvent(LEFT, True)])
    keys.clear()
    assert keys.tick([]) == set()
