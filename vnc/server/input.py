"""What one client holds down, so that nothing stays held when it leaves."""

from __future__ import annotations

from collections.abc import Iterable

from vnc.events import Event, KeyEvent, PointerEvent

MAX_HELD = 256
"""Keys one client may hold at once, more than any keyboard has; presses beyond are dropped."""


class ClientInput:
    """The keys and buttons of one client on a screen of known size."""

    def __init__(self, width: int, height: int) -> None:
        self._width, self._height = width, height
        self._held: dict[int, None] = {}  # a dict keeps the order they went down in
        self._pointer = PointerEvent(0, 0, 0)

    def accept(self, events: Iterable[Event]) -> list[Event]:
        """Return `events` with the pointer on the screen, without presses beyond the bound."""
        moved = (self._key(event) if isinstance(event, KeyEvent) else self._move(event) for event in events)
        return [event for event in moved if event is not None]

    def release(self) -> list[Event]:
        """The events that let go of everything held."""
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
