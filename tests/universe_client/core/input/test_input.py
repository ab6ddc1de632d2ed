"""What is held down, and which input reaches the remote."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rewarder.protocol.episode import EpisodeId
from universe_client.core.input.gate import InputGate
from universe_client.core.input.held import HeldInput
from vnc.events import Event, KeyEvent, PointerEvent


def after(*events: Event) -> list[Event]:
    """What is released after these."""
    held = HeldInput()
    held.note(list(events))
    released = held.release()
    assert held.release() == []
    return released


def test_releases_the_last_key_first_and_the_buttons_where_they_are():
    one, two = KeyEvent(1, True), KeyEvent(2, True)
    released = after(one, two, one, PointerEvent(3, 4, 0), PointerEvent(5, 6, 3))
    assert released == [KeyEvent(2, False), KeyEvent(1, False), PointerEvent(5, 6, 0)]


def test_what_was_let_go_is_not_held():
    keys = KeyEvent(1, True), KeyEvent(1, False), KeyEvent(9, False)
    assert after(*keys, PointerEvent(1, 1, 1), PointerEvent(1, 1, 0)) == []


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


class FakeSession:
    """Records what is sent."""

    def __init__(self) -> None:
        self.sent: list[Event] = []

    def send(self, events: list[Event]) -> None:
        self.sent += events


def transmit(session, events) -> None:
    session.send(events)


def test_only_input_for_the_episode_that_is_played_passes_the_gate():
    session, gate = FakeSession(), InputGate()
    one, two = EpisodeId((1,)), EpisodeId((2,))
    down = [KeyEvent(1, True)]
    assert not gate.send(down, one, transmit), "closed"
    gate.open(session, one)
    assert not gate.send(down, two, transmit)
    assert not gate.send(down, None, transmit)
    assert gate.send(down, one, transmit)
    assert gate.held == ((1,), None)
    gate.close()
    assert session.sent == [KeyEvent(1, True), KeyEvent(1, False)]
    assert gate.held == ((), None)
    assert not gate.send(down, one, transmit)
    gate.close()
    assert len(session.sent) == 2, "nothing is released twice"
