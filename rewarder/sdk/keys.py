"""Which keys are held, for environments that look at the keyboard once a tick."""

from __future__ import annotations

from collections.abc import Iterable

from vnc.events import Event, KeyEvent

LEFT, UP, RIGHT, DOWN = 0xFF51, 0xFF52, 0xFF53, 0xFF54
RETURN, SPACE = 0xFF0D, 0x20


class HeldKeys:
    """The keyboard as a set of keysyms; letters count as lower case."""

    def __init__(self) -> None:
        self._held: set[int] = set()

    def tick(self, events: Iterable[Event]) -> frozenset[int]:
        """Return the keys held at the end of this tick, and those that were pressed within it, if only for a moment."""
        pressed = set()
        for event in events:
            if isinstance(event, KeyEvent):
                keysym = _lower(event.keysym)
                if event.down:
                    self._held.add(keysym)
                    pressed.add(keysym)
                else:
                    self._held.discard(keysym)
        return frozenset(self._held | pressed)

    def clear(self) -> None:
        """Forget everything: an episode ends."""
        self._held.clear()


def _lower(keysym: int) -> int:
    # Shift or caps lock may change between press and release, and with it the keysym: "a" down, "A" up.
    return keysym + 32 if ord("A") <= keysym <= ord("Z") else keysym
