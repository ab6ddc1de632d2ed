"""Keysyms of common keys, and a record of the keys that are down."""

from __future__ import annotations

from collections.abc import Iterable

from vnc.events import Event, KeyEvent

LEFT, UP, RIGHT, DOWN = 0xFF51, 0xFF52, 0xFF53, 0xFF54
RETURN, SPACE = 0xFF0D, 0x20


class HeldKeys:
    """The set of keys that are down, as X11 keysyms; letters are in lower case."""

    def __init__(self) -> None:
        self._held: set[int] = set()

    def tick(self, events: Iterable[Event]) -> frozenset[int]:
        """Return the keys that were down at any moment of this tick.

        Args:
            events: of this tick, as `Runtime.tick` receives them.

        Returns:
            Keysyms of the keys that are down at the end, and of those that were pressed and released in between.
        """
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
        """Forget all keys, for a new episode."""
        self._held.clear()


def _lower(keysym: int) -> int:
    # The keysym of a release differs from that of its press if shift changed in between: "a" down, "A" up.
    return keysym + 32 if ord("A") <= keysym <= ord("Z") else keysym
