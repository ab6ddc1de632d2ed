"""The agent's input to one remote: which episode it is for, and what it holds down."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from rewarder.protocol.episode import EpisodeId
from vnc.events import Event, KeyEvent, PointerEvent
from vnc.session import Session


class HeldInput:
    """The keys and buttons that are down after the events noted so far."""

    def __init__(self) -> None:
        self._keys: dict[int, None] = {}  # in the order in which they went down
        self._pointer: PointerEvent | None = None

    @property
    def keys(self) -> tuple[int, ...]:
        """The keysyms that are down, in the order in which they went down."""
        return tuple(self._keys)

    @property
    def pointer(self) -> PointerEvent | None:
        """The newest pointer event; None if the pointer has not been moved."""
        return self._pointer

    def note(self, events: Sequence[Event]) -> None:
        """Record the effect of `events`."""
        for event in events:
            if isinstance(event, PointerEvent):
                self._pointer = event
            elif event.down:
                self._keys[event.keysym] = None
            else:
                self._keys.pop(event.keysym, None)

    def release(self) -> list[Event]:
        """Return the events that release everything, the last key first; afterwards nothing is held."""
        events: list[Event] = [KeyEvent(keysym, False) for keysym in reversed(self._keys)]
        if self._pointer is not None and self._pointer.button_mask:
            events.append(PointerEvent(self._pointer.x, self._pointer.y, 0))
        self._keys.clear()
        self._pointer = None
        return events


class InputGate:
    """Passes the agent's input on during the episode that it is meant for, and drops it otherwise.

    `open` and `close` run on the event loop's thread, `send` and `held` on the agent's. The lock keeps input from
    reaching the remote after `close` has released the keys: it would stay down in the next episode.

    Attributes:
        playing: the episode whose input is passed on; None while the gate is closed. It is read without the lock.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held = HeldInput()
        self._session: Session | None = None
        self.playing: EpisodeId | None = None

    @property
    def held(self) -> tuple[tuple[int, ...], PointerEvent | None]:
        """What the agent holds down: the keysyms, and the newest pointer event."""
        with self._lock:
            return self._held.keys, self._held.pointer

    def open(self, session: Session, episode: EpisodeId) -> None:
        """Pass input for `episode` on to `session`."""
        with self._lock:
            self._session, self.playing = session, episode

    def close(self) -> None:
        """Drop input from now on, and release what is held."""
        with self._lock:
            self.playing = None
            if self._session is not None:
                self._session.send(self._held.release())
            self._session = None

    def send(
        self,
        events: Sequence[Event],
        episode: EpisodeId | None,
        transmit: Callable[[Session, Sequence[Event]], None],
    ) -> bool:
        """Call `transmit` with `events` if `episode` is being played; return whether it is."""
        with self._lock:
            if self._session is None or episode is None or episode != self.playing:
                return False
            self._held.note(events)
            transmit(self._session, events)
            return True
