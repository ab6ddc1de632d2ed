"""The keys and buttons that a client holds, which are released when it disconnects."""

from __future__ import annotations

from collections.abc import Iterable

from vnc.events import Event, KeyEvent, PointerEvent

MAX_HELD = 256
"""The most keys that a client can hold, more than any keyboard has; further presses are dropped."""


class ClientInput:
    """The keys and buttons of one client on a screen of known size."""

    def __init__(self, width: int, height: int) -> None:
        self._width, self._height = width, height
        self._held: dict[int, None] = {}  # a dict keeps the order of the presses
        self._pointer = PointerEvent(0, 0, 0)

    def accept(self, events: Iterable[Event]) -> list[Event]:
        """Return `events` with pointer positions clipped to the screen, without presses beyond `MAX_HELD`."""
        moved = (self._key(event) if isinstance(event, KeyEvent) else self._move(event) for event in events)
        return [event for event in moved if event is not None]

    def release(self) -> list[Event]:
        """Return the events that release all held keys and buttons."""
        events: list[Event] = [KeyEvent(keysym, False) for keysym in reversed(self._held)]
        if self._pointer.button_mask:
            events.append(PointerEvent(self._pointer.x, self._pointer.y, 0))
        self._held.clear()
        self._pointer = PointerEvent(0, 0, 0)
        return events

    def _key(self, event: KeyEvent) -> KeyEvent | None:
        if not event.down:
            self._held.pop(event.keysym, None)
        elif event.keysym not in self._held:
            if len(self._held) >= MAX_HELD:
                return None
            self._held[event.keysym] = None
        return event

    def _move(self, event: PointerEvent) -> PointerEvent:
        x, y = min(event.x, self._width - 1), min(event.y, self._height - 1)
        self._pointer = PointerEvent(x, y, event.button_mask)
        return self._pointer
