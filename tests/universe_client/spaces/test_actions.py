"""Reading the agent's actions, and building common ones."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from universe_client import ConfigError
from universe_client.spaces import actions
from universe_client.spaces.actions import chord, click, drag, key, move, parse, scroll, type_text
from vnc.events import KeyEvent, PointerEvent

A, CTRL = 0x61, 0xFFE3


def test_tuples_lists_and_values_in_any_mixture():
    events = parse(
        [
            ("KeyEvent", "a", True),
            ["KeyEvent", "ctrl", 0],
            KeyEvent(A, False),
            ("PointerEvent", 1, 2, 3),
            ["PointerEvent", np.int64(4), np.uint8(5), np.int32(6)],
            PointerEvent(7, 8, 9),
        ],
        0,
    )
    assert events == [
        KeyEvent(A, True), KeyEvent(CTRL, False), KeyEvent(A, False),
        PointerEvent(1, 2, 3), PointerEvent(4, 5, 6), PointerEvent(7, 8, 9),
    ]  # fmt: skip
    assert all(type(event.x) is int for event in events if isinstance(event, PointerEvent))
    assert parse((), 0) == []


@pytest.mark.parametrize(
    "event",
    [
        None, 5, "KeyEvent", (), ("KeyEvent",), ("KeyEvent", "a"), ("KeyEvent", "a", True, 1), ("KeyEvent", 1.5, True),
        ("KeyEvent", "nokey", True), ("KeyEvent", 0, True), ("KeyEvent", -1, True), ("KeyEvent", 1 << 33, True),
        ("PointerEvent", 1, 2), ("PointerEvent", -1, 2, 0), ("PointerEvent", 1, 65536, 0), ("PointerEvent", 1, 2, 512),
        ("PointerEvent", 1.5, 2, 0), ("PointerEvent", "1", 2, 0), ("PointerEvent", None, 2, 0), ("Jump", 1),
        KeyEvent(1 << 33, True), KeyEvent(0, True), PointerEvent(70000, 0, 0), PointerEvent(0, -1, 0),
        PointerEvent(0, 0, 512), PointerEvent(0.5, 0, 0),  # type: ignore[arg-type]
    ],
)  # fmt: skip
def test_what_is_no_event_is_an_error_that_names_slot_and_event(event):
    with pytest.raises(ConfigError) as caught:
        parse([("KeyEvent", "a", True), event], 3)
    assert "slot 3" in str(caught.value)
    assert type(event).__name__ in str(caught.value) or str(event) in str(caught.value)


@pytest.mark.parametrize("action", ["abc", b"abc", None, 5, {("KeyEvent", "a", True)}])
def test_an_action_that_is_no_list_is_an_error(action):
    with pytest.raises(ConfigError, match=r"slot 2: .* is not a list of events"):
        parse(action, 2)


def test_an_array_of_numbers_is_an_error():
    # From numpy 2.5 on a pattern takes an array for a sequence: then it is its first number that is no event.
    with pytest.raises(ConfigError, match=r"slot 2: .* is no"):
        parse(np.zeros(3), 2)


def test_key_and_chord():
    assert key("a", True) == KeyEvent(A, True)
    assert chord("ctrl", "a") == [
        KeyEvent(CTRL, True), KeyEvent(A, True), KeyEvent(A, False), KeyEvent(CTRL, False),
    ]  # fmt: skip


def test_typed_text_is_pressed_and_released_character_by_character():
    assert type_text("a\n") == [
        KeyEvent(A, True), KeyEvent(A, False), KeyEvent(0xFF0D, True), KeyEvent(0xFF0D, False),
    ]  # fmt: skip


def test_clicks_and_scrolls():
    assert move(1, 2, actions.RIGHT) == [PointerEvent(1, 2, 4)]
    assert click(5, 6, actions.MIDDLE) == [
        PointerEvent(5, 6, 0),
        PointerEvent(5, 6, 2),
        PointerEvent(5, 6, 0),
    ]
    assert len(click(5, 6, count=2)) == 5
    assert [event.button_mask for event in scroll(1, 1, 2)] == [0, 16, 0, 16, 0]
    assert [event.button_mask for event in scroll(1, 1, -1)] == [0, 8, 0]
    assert scroll(1, 1, 0) == [PointerEvent(1, 1, 0)]


@given(st.tuples(*[st.integers(0, 2000)] * 2), st.tuples(*[st.integers(0, 2000)] * 2), st.integers(1, 20))
def test_a_drag_begins_and_ends_where_it_should(start, end, moves):
    events = drag(start, end, moves=moves)
    assert events[0] == PointerEvent(*start, 0)
    assert events[1] == PointerEvent(*start, 1)
    assert events[-2] == PointerEvent(*end, 1)
    assert events[-1] == PointerEvent(*end, 0)
    assert all(event.button_mask == 1 for event in events[1:-1])
    assert parse(events, 0) == events
