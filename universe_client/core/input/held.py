"""What the agent holds down."""

from __future__ import annotations

from collections.abc import Iterable

from vnc.events import Event, KeyEvent, PointerEvent

Held = tuple[tuple[int, ...], PointerEvent | None]
"""The keysyms that are down, in the order in which they went down, and the newest pointer event or None."""


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

    @classmethod
    def of(cls, held: Held) -> HeldInput:
        """Return what is down if `held` is."""
        self = cls()
        self._keys, self._pointer = dict.fromkeys(held[0]), held[1]
        return self

    @property
    def now(self) -> Held:
        """What is down now, as a value."""
        return tuple(self._keys), self._pointer

    def note(self, events: Iterable[Event]) -> None:
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
