"""What is held down."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from universe_client.held import HeldInput
from vnc.events import Event, KeyEvent, PointerEvent


def test_releases_the_last_key_first_and_the_buttons_where_they_are():
    held = HeldInput()
    held.note(
        [
            KeyEvent(1, True),
            KeyEvent(2, True),
            KeyEvent(1, True),
            PointerEvent(3, 4, 0),
            PointerEvent(5, 6, 3),
        ]
    )
    assert held.release() == [KeyEvent(2, False), KeyEvent(1, False), PointerEvent(5, 6, 0)]
    assert held.release() == []


def test_what_was_let_go_is_not_held():
    held = HeldInput()
    held.note(
        [
            KeyEvent(1, True),
            KeyEvent(1, False),
            KeyEvent(9, False),
            PointerEvent(1, 1, 1),
            PointerEvent(1, 1, 0),
        ]
    )
    assert held.release() == []


EVENTS = st.lists(
    st.builds(KeyEvent, st.integers(1, 5), st.booleans())
    | st.builds(PointerEvent, st.integers(0, 3), st.integers(0, 3), st.integers(0, 3))
)


@given(st.lists(EVENTS))
def test_nothing_is_down_after_a_release_and_nothing_is_let_go_twice(batches):
    held = HeldInput()
    for batch in batches:
        held.note(batch)
    events = [event for batch in batches for event in batch]
    released = held.release()
    keys, buttons = down(events)
    assert {event.keysym for event in released if isinstance(event, KeyEvent)} == keys
    assert any(isinstance(event, PointerEvent) for event in released) == bool(buttons)
    assert down([*events, *released]) == (set(), 0)


def down(events: list[Event]) -> tuple[set[int], int]:
    keys: set[int] = set()
    buttons = 0
    for event in events:
        if isinstance(event, PointerEvent):
            buttons = event.button_mask
        elif event.down:
            keys.add(event.keysym)
        else:
            keys.discard(event.keysym)
    return keys, buttons
