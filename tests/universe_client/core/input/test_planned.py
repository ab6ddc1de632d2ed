"""What is planned: the mirror of a session's plan, and what a replacement releases."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rewarder.protocol.episode import EpisodeId
from universe_client.core.input.gate import InputGate
from vnc.events import Event, KeyEvent, PointerEvent

EPISODE = EpisodeId((1,))


class TimelessSession:
    """Plays what is planned when the test says so, at a time of the test's clock."""

    def __init__(self) -> None:
        self.sent: list[Event] = []
        self.waiting: list[tuple[float, list[Event]]] = []
        self.times: list[float] = []

    def send(self, events) -> None:
        self.sent += events

    def plan(self, since, timed) -> int:
        kept = [entry for entry in self.waiting if entry[0] < since]
        dropped = len(self.waiting) - len(kept)
        self.waiting = [*kept, *timed]
        return dropped

    def played(self) -> list[float]:
        times, self.times = self.times, []
        return times

    def play(self, count: int) -> None:
        for at, events in self.waiting[:count]:
            self.sent += events
            self.times.append(at + 0.5)
        del self.waiting[:count]


def down(events: list[Event]) -> tuple[set[int], int]:
    """Return the keys and buttons that are down after these events."""
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


def transmit(session, events) -> None:
    session.send(events)


EVENTS = st.lists(
    st.builds(KeyEvent, st.integers(1, 3), st.booleans())
    | st.builds(PointerEvent, st.integers(0, 3), st.integers(0, 3), st.integers(0, 3)),
    max_size=4,
)
SEQUENCES = st.lists(st.tuples(st.integers(0, 9), EVENTS), min_size=1, max_size=4).map(
    lambda entries: sorted(entries, key=lambda entry: entry[0])
)
DEEDS = st.one_of(
    st.tuples(st.just("plan"), SEQUENCES),
    st.tuples(st.just("send"), EVENTS),
    st.tuples(st.just("play"), st.integers(0, 4)),
    st.tuples(st.just("cancel"), st.none()),
)


@given(st.lists(DEEDS))
def test_the_mirror_knows_what_is_down_what_waits_and_what_was_played(deeds):
    session, gate = TimelessSession(), InputGate()
    gate.open(session, EPISODE)
    for name, value in deeds:
        if name == "plan":
            timed = [entry for entry in value if entry[1]]
            assert gate.plan(value[0][0], timed, EPISODE)
        elif name == "send":
            assert gate.send(value, EPISODE, transmit)
        elif name == "play":
            session.play(value)
        else:
            gate.cancel()
        report = gate.report()
        assert report.waiting == len(session.waiting)
        assert all(sent == at + 0.5 and events for at, sent, events in report.played)
        keys, pointer = gate.held
        assert (set(keys), 0 if pointer is None else pointer.button_mask) == down(session.sent)
    gate.close()
    assert not session.waiting
    assert down(session.sent) == (set(), 0)
    assert gate.report().waiting == 0


@given(SEQUENCES, st.integers(0, 4))
def test_a_plan_that_releases_everything_leaves_nothing_down_when_it_is_cut(sequence, played):
    session, gate = TimelessSession(), InputGate()
    gate.open(session, EPISODE)
    ends: list[Event] = [KeyEvent(key, False) for key in (1, 2, 3)]
    gate.plan(sequence[0][0], [*sequence, (10, [*ends, PointerEvent(0, 0, 0)])], EPISODE)
    session.play(played)
    gate.cancel()
    assert down(session.sent) == (set(), 0)


def test_what_will_be_held_counts_what_is_planned_before():
    session, gate = TimelessSession(), InputGate()
    gate.open(session, EPISODE)
    gate.plan(1, [(1, [KeyEvent(7, True)]), (2, [KeyEvent(8, True)]), (3, [KeyEvent(7, False)])], EPISODE)
    assert [gate.held_at(moment)[0] for moment in (1, 2, 3, 4)] == [(), (7,), (7, 8), (8,)]
    assert gate.held[0] == ()


def test_a_replacement_releases_at_its_time_what_the_dropped_events_would_have_released():
    session, gate = TimelessSession(), InputGate()
    gate.open(session, EPISODE)
    gate.plan(1, [(1, [KeyEvent(7, True), KeyEvent(8, True)]), (5, [KeyEvent(7, False)])], EPISODE)
    gate.plan(4, [(4, [KeyEvent(9, True)])], EPISODE)
    assert session.waiting[1:] == [(4, [KeyEvent(7, False)]), (4, [KeyEvent(9, True)])]


def test_a_plan_for_another_episode_is_dropped():
    session, gate = TimelessSession(), InputGate()
    timed = [(1, [KeyEvent(7, True)])]
    assert not gate.plan(1, timed, EPISODE), "closed"
    gate.open(session, EPISODE)
    assert not gate.plan(1, timed, EpisodeId((2,)))
    assert not gate.plan(1, timed, None)
    assert not session.waiting
