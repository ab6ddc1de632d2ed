"""A person who acts on a remote in place of the agent."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence

from vnc.events import Event, KeyEvent, PointerEvent

_WAITING = 4096
"""Events of a page that may wait for the next step; older ones are dropped."""


class Person:
    """The input of a person. The page's thread writes it, the agent's thread reads it.

    Attributes:
        acts: whether the person acts, and not the agent.
    """

    def __init__(self) -> None:
        self.acts = False
        self._acted = False
        self._events: deque[Event] = deque(maxlen=_WAITING)

    def take(self, acts: bool) -> None:
        """Begin to act, or let the agent act again."""
        self._events.clear()
        self.acts = acts

    def add(self, event: Event) -> None:
        """Add an event, for the next step."""
        if self.acts:
            self._events.append(event)

    def has_changed(self) -> bool:
        """Return whether another one acts than at the last call."""
        before, self._acted = self._acted, self.acts
        return before != self._acted

    def events(self) -> Sequence[Event]:
        """Return what has been added since the last call."""
        return [self._events.popleft() for _ in range(len(self._events))]


def releases(held: Iterable[int], pointer: tuple[int, int, int] | None) -> list[Event]:
    """Return the events after which nothing is pressed.

    Args:
        held: keysyms of the keys that are down.
        pointer: (x, y, button_mask); None if it never moved.
    """
    keys: list[Event] = [KeyEvent(keysym, False) for keysym in held]
    return keys + ([PointerEvent(pointer[0], pointer[1], 0)] if pointer and pointer[2] else [])
