"""Passes the agent's input on during the episode that it is meant for."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence

from rewarder.protocol.episode import EpisodeId
from universe_client.core.input.held import Held, HeldInput
from universe_client.core.input.planned import PlannedInput, Report
from vnc.events import Event, TimedEvents
from vnc.session import Session


class InputGate:
    """Passes the agent's input on during the episode that it is meant for, and drops it otherwise.

    `open` and `close` run on the event loop's thread, the other methods on the agent's. The lock keeps input from
    reaching the remote after `close` has released the keys: it would stay down in the next episode. Planned input waits
    in the session, which drops it within `close`.

    Attributes:
        playing: the episode whose input is passed on; None while the gate is closed. It is read without the lock.
        plans: whether input was ever planned. It is read without the lock.
        on_change: called after each `open`, with the session and the episode, and with None after a `close` that ends
            one; None calls nothing.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held = HeldInput()
        self._planned = PlannedInput(self._held)
        self._session: Session | None = None
        self.playing: EpisodeId | None = None
        self.plans = False
        self.on_change: Callable[[Session | None, EpisodeId | None], None] | None = None

    @property
    def held(self) -> Held:
        """What the agent holds down: the keysyms, and the newest pointer event."""
        return self.held_at(-math.inf)

    def held_at(self, moment: float) -> Held:
        """Return what the agent will hold down at `moment` (monotonic), if nothing else is sent or planned."""
        with self._lock:
            if not self.plans:
                return self._held.now
            self._update()
            return self._planned.held_at(moment).now

    @property
    def is_waiting(self) -> bool:
        """Whether planned input waits."""
        if not self.plans:
            return False
        with self._lock:
            self._update()
            return self._planned.is_waiting

    def replacing(self, events: Sequence[Event]) -> Sequence[Event]:
        """Return events to send now that replace what is planned, even if `events` is empty; see `renewed`."""
        if not self.is_waiting:
            return events
        renewed = self.renewed(-math.inf, events)
        if not renewed:
            self.cancel()
        return renewed

    def renewed(self, since: float, events: Sequence[Event]) -> list[Event]:
        """Return events for `since` (monotonic) that bring about a state of keys and pointer.

        Args:
            since: the time for which they are sent or planned.
            events: what leads from what is held at that time to the state.
        """
        with self._lock:
            self._update()
            return self._planned.renewed(since, events)

    def report(self) -> Report:
        """Return what has happened to planned input since the last report."""
        with self._lock:
            self._update()
            return self._planned.report()

    def _update(self) -> None:
        if self._session is not None:
            self._planned.update(self._session)

    def open(self, session: Session, episode: EpisodeId) -> None:
        """Pass input for `episode` on to `session`."""
        with self._lock:
            self._session, self.playing = session, episode
        if self.on_change is not None:
            self.on_change(session, episode)

    def close(self) -> None:
        """Drop input from now on, planned input included, and release what is held."""
        was_open = self.playing is not None
        with self._lock:
            self.playing = None
            if self._session is not None:
                self._planned.cut(self._session)
                self._session.send(self._held.release())
            self._session = None
        if was_open and self.on_change is not None:
            self.on_change(None, None)

    def cancel(self) -> None:
        """Drop planned input, and release what it would have released."""
        with self._lock:
            if self._session is not None:
                ends = self._planned.cut(self._session)
                self._held.note(ends)
                self._session.send(ends)

    def send(
        self,
        events: Sequence[Event],
        episode: EpisodeId | None,
        transmit: Callable[[Session, Sequence[Event]], None],
    ) -> bool:
        """Call `transmit` with `events` if `episode` is being played; return whether it is.

        Events, if there are any, replace all planned input.
        """
        with self._lock:
            if self._session is None or episode is None or episode != self.playing:
                return False
            if self.plans and events:
                events = [*self._planned.cut(self._session, events), *events]
            self._held.note(events)
            transmit(self._session, events)
            return True

    def plan(self, since: float, timed: Sequence[TimedEvents], episode: EpisodeId | None) -> bool:
        """Plan input if `episode` is being played; return whether it is.

        Args:
            since: what is planned for this time (monotonic) or later is replaced.
            timed: see `Session.plan`.
            episode: the episode that it is meant for.
        """
        with self._lock:
            if self._session is None or episode is None or episode != self.playing:
                return False
            self.plans = True
            self._planned.replace(self._session, since, timed)
            return True
