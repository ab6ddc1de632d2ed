"""The agent's input for later: what waits in the session, and when the rest was played."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from universe_client.core.input.held import HeldInput
from vnc.events import Event, KeyEvent, PointerEvent, TimedEvents
from vnc.session import Session

Played = tuple[float, float, Sequence[Event]]


class Report(NamedTuple):
    """What a step tells of planned input.

    Attributes:
        played: of each entry that was played, the time for which it was planned, the time at which it was sent, and
            the events.
        waiting: how many entries wait.
        cancelled: how many events were dropped before their time.
    """

    played: list[Played]
    waiting: int
    cancelled: int


class PlannedInput:
    """Mirrors the plan of a session, which sends by itself. The owner's lock guards all calls."""

    def __init__(self, held: HeldInput) -> None:
        """Prepare an empty plan; `held` is to know what the played events hold down."""
        self._held = held
        self._waiting: deque[TimedEvents] = deque()
        self._played: list[Played] = []
        self._cancelled = 0

    def report(self) -> Report:
        """Return what has happened since the last report."""
        report = Report(self._played, len(self._waiting), self._cancelled)
        self._played, self._cancelled = [], 0
        return report

    def update(self, session: Session) -> None:
        """Note what has been played."""
        if not self._waiting:
            return
        for played in session.played():
            at, events = self._waiting.popleft()
            self._held.note(events)
            self._played.append((at, played, events))

    def held_at(self, moment: float) -> HeldInput:
        """Return what will be held down when what is planned before `moment` has been played."""
        held = HeldInput.of(self._held.now)
        held.note(event for at, events in self._waiting if at < moment for event in events)
        return held

    @property
    def is_waiting(self) -> bool:
        """Whether an entry waits."""
        return bool(self._waiting)

    def renewed(self, since: float, events: Sequence[Event]) -> list[Event]:
        """Return `events`, and before them others that hold again what they leave held, if they drop planned input.

        Without these, `replace` would release what the dropped input would have released.
        """
        if not self._waiting or self._waiting[-1][0] < since:
            return list(events)
        keys, pointer = self.held_at(since).now
        own = {event.keysym for event in events if isinstance(event, KeyEvent)}
        again: list[Event] = [KeyEvent(key, True) for key in keys if key not in own]
        is_moved = any(isinstance(event, PointerEvent) for event in events)
        if pointer is not None and pointer.button_mask and not is_moved:
            again.append(pointer)
        return [*again, *events]

    def replace(self, session: Session, since: float, timed: Sequence[TimedEvents]) -> None:
        """Play `timed` instead of what is planned for `since` or later.

        A key or button that the dropped events would have released is released first, unless `timed` has events for it.
        """
        dropped = self._drop(session, since)
        ends = loose_ends(self.held_at(since), dropped, [event for _, events in timed for event in events])
        if ends:
            timed = [(max(since, 0.0), ends), *timed]
        session.plan(since, timed)
        self._waiting.extend(timed)
        self.update(session)

    def cut(self, session: Session, new: Sequence[Event] = ()) -> list[Event]:
        """Drop everything that waits; return the releases that were dropped with it, to be sent before `new`."""
        self.update(session)
        return loose_ends(self._held, self._drop(session, -math.inf), new)

    def _drop(self, session: Session, since: float) -> list[Event]:
        if not self._waiting or self._waiting[-1][0] < since:
            return []
        dropped = [self._waiting.pop() for _ in range(session.plan(since, []))]
        self.update(session)
        events = [event for _, events in reversed(dropped) for event in events]
        self._cancelled += len(events)
        return events


def loose_ends(held: HeldInput, dropped: Iterable[Event], new: Sequence[Event]) -> list[Event]:
    """Return the releases of what is held, which `dropped` contained and which `new` does not replace."""
    released, buttons = set[int](), -1
    for event in dropped:
        if isinstance(event, PointerEvent):
            buttons &= event.button_mask
        elif not event.down:
            released.add(event.keysym)
    released -= {event.keysym for event in new if isinstance(event, KeyEvent)}
    ends: list[Event] = [KeyEvent(key, False) for key in reversed(held.keys) if key in released]
    pointer, is_moved = held.pointer, any(isinstance(event, PointerEvent) for event in new)
    if pointer is not None and pointer.button_mask & ~buttons and not is_moved:
        ends.append(PointerEvent(pointer.x, pointer.y, pointer.button_mask & buttons))
    return ends
