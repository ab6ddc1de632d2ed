"""What the agent holds down on one remote, so that it can be let go of at the end of an episode."""

from __future__ import annotations

from collections.abc import Sequence

from vnc.events import Event, KeyEvent, PointerEvent


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
        """Where the pointer was put last, with which buttons; None if it was not moved."""
        return self._pointer

    def note(self, events: Sequence[Event]) -> None:
        """Follow `events`."""
        for event in events:
            if isinstance(event, PointerEvent):
                self._pointer = event
            elif event.down:
                self._keys[event.keysym] = None
            else:
                self._keys.pop(event.keysym, None)

    def release(self) -> list[Event]:
        """Return the events that let go of everything, the last key first; nothing is held after it."""
        events: list[Event] = [KeyEvent(keysym, False) for keysym in reversed(self._keys)]
        if self._pointer is not None and self._pointer.button_mask:
            events.append(PointerEvent(self._pointer.x, self._pointer.y, 0))
        self._keys.clear()
        self._pointer = None
        return events
