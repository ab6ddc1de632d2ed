"""What is pressed and held, as rows of an array."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from universe_client.recording.held import Columns
from universe_client.spaces.key_names import key_name
from vnc.keysyms import keysym

LEFT, RIGHT = keysym("Left"), keysym("Right")


def key(name, down):
    return ["KeyEvent", name, down]


def rows(actions, times, size=(100, 50)):
    columns = Columns([events for _, events in actions])
    return columns, columns.array(actions, np.array(times), size)


@pytest.mark.parametrize("name", ["Left", "a", "space", "F5", "Shift_L"])
def test_keys_have_the_names_of_x11(name):
    assert key_name(keysym(name)) == name


def test_characters_without_a_name_are_their_own():
    assert key_name(keysym("漢")) == "漢"


def test_a_row_has_what_goes_down_before_the_next_or_is_down_then():
    actions = [(5, [key(LEFT, True)]), (25, [key(LEFT, False), key(RIGHT, True)]), (27, [key(RIGHT, False)])]
    columns, array = rows(actions, [0, 10, 20, 30])
    assert columns.names == ["key.Left", "key.Right"]
    assert array.tolist() == [[1, 0], [1, 0], [0, 1], [0, 0]]


def test_a_pointer_has_its_place_and_buttons():
    actions = [
        (1, [["PointerEvent", 50, 25, 0]]),
        (11, [["PointerEvent", 60, 25, 4], ["PointerEvent", 70, 25, 0]]),
    ]
    columns, array = rows(actions, [0, 10, 20])
    assert columns.names == ["pointer.x", "pointer.y", "button.3"]
    assert array.tolist() == [
        pytest.approx([0.5, 0.5, 0]),
        pytest.approx([0.7, 0.5, 1]),
        pytest.approx([0.7, 0.5, 0]),
    ]


def test_without_actions_there_are_two_columns_of_zeros():
    columns, array = rows([], [0, 10])
    assert columns.names == ["none.1", "none.2"] and not array.any()


@given(st.lists(st.tuples(st.integers(0, 99), st.booleans()), max_size=30), st.integers(1, 12))
def test_no_press_is_lost_between_rows(presses, count):
    actions = [(time, [key(LEFT, down)]) for time, down in sorted(presses, key=lambda press: press[0])]
    times = [step * 100 // count for step in range(count)]
    _, array = rows(actions or [(0, [key(LEFT, False)])], times)
    for row, (begin, end) in enumerate(zip(times, [*times[1:], 1 << 62], strict=True)):
        before = [down for time, [(_, _, down)] in actions if time < begin]
        states = [before[-1] if before else False]
        states += [down for time, [(_, _, down)] in actions if begin <= time < end]
        is_pressed = any(down and not was_down for was_down, down in pairwise(states))
        assert array[row, 0] == (is_pressed or states[-1])
