"""Actions as lists of events: check those of an agent, and build common ones such as clicks and typed text."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any

from universe_client.errors import ConfigError
from vnc.events import MOST_BUTTONS, Event, KeyEvent, PointerEvent
from vnc.keysyms import keysym

_MAX_COORDINATE = 0xFFFF
LEFT, MIDDLE, RIGHT, WHEEL_UP, WHEEL_DOWN = 1, 2, 4, 8, 16
"""Bits of a button mask (RFC 6143 section 7.5.5)."""


def parse(action: Sequence[object], slot: int) -> list[Event]:
    """Return the action of one remote as a list of event objects.

    Args:
        action: a sequence of `KeyEvent` and `PointerEvent` objects, or of tuples `("KeyEvent", key, down)` and
            `("PointerEvent", x, y, button_mask)`, in any mixture.
        slot: the index of the remote, for the error message.

    Raises:
        ConfigError: `action` is not a sequence, or an entry is not an event.
    """
    # A sequence pattern excludes str and bytes, and takes a third of the time of isinstance.
    match action:
        case [*_]:
            return [_parse_event(event, slot) for event in action]
    raise ConfigError(f"action of slot {slot}: {action!r} is not a list of events")


def _parse_event(event: object, slot: int) -> Event:
    match event:
        case KeyEvent(keysym=key, down=down):
            return _parse_event(("KeyEvent", key, down), slot)
        case PointerEvent(x=x, y=y, button_mask=mask):
            return _parse_event(("PointerEvent", x, y, mask), slot)
        case ("KeyEvent", str() | int() as key, down):
            try:
                return KeyEvent(keysym(key), bool(down))
            except ValueError as error:
                raise ConfigError(f"action of slot {slot}, {event!r}: {error}") from None
        case ("PointerEvent", x, y, mask) if (pointer := _pointer(x, y, mask)) is not None:
            return pointer
        case ["KeyEvent" | "PointerEvent", *_] if isinstance(event, list):
            return _parse_event(tuple(event), slot)
    raise ConfigError(
        f"action of slot {slot}: {event!r} is not an event; events are ('KeyEvent', key, down) and "
        "('PointerEvent', x, y, button_mask) with x and y within 0..65535 and the mask within 0..511"
    )


def _pointer(x: Any, y: Any, mask: Any) -> PointerEvent | None:
    """Return the event, or None if a value is not an integer (NumPy's are) or out of the range of RFB."""
    try:
        x, y, mask = index(x), index(y), index(mask)
    except TypeError:
        return None
    fits = 0 <= x <= _MAX_COORDINATE and 0 <= y <= _MAX_COORDINATE and 0 <= mask <= MOST_BUTTONS
    return PointerEvent(x, y, mask) if fits else None


def key(name: str | int, down: bool) -> KeyEvent:
    """Return the event that presses or releases one key.

    Args:
        name: a character ("a", "ä"), the name of an X11 keysym ("Page_Up"), a name of OpenAI Universe ("pgup"), or a
            keysym (int).
        down: True presses, False releases.

    Raises:
        ValueError: the name is unknown.
    """
    return KeyEvent(keysym(name), down)


def chord(*keys: str | int) -> list[Event]:
    """Return the events that press the keys in order and release them in reverse order: `chord("ctrl", "t")`.

    Raises:
        ValueError: a key is unknown; see `key`.
    """
    down: list[Event] = [key(name, True) for name in keys]
    return down + [key(name, False) for name in reversed(keys)]


def type_text(text: str) -> list[Event]:
    """Return the events that type `text`: each character goes down and up. The server adds Shift where needed."""
    return [event for character in text for event in chord(character)]


def move(x: int, y: int, button_mask: int = 0) -> list[Event]:
    """Return the event that moves the pointer.

    Args:
        x, y: pixels from the top left corner, 0 to 65535.
        button_mask: the buttons that are down, see `PointerEvent`.
    """
    return [PointerEvent(x, y, button_mask)]


def click(x: int, y: int, button: int = LEFT, count: int = 1) -> list[Event]:
    """Return the events that move to (x, y), and press and release a button.

    Args:
        x, y: pixels from the top left corner.
        button: the bit of the button in a button mask: 1 left, 2 middle, 4 right.
        count: the number of clicks.
    """
    events: list[Event] = [PointerEvent(x, y, 0)]
    for _ in range(count):
        events += [PointerEvent(x, y, button), PointerEvent(x, y, 0)]
    return events


def drag(start: tuple[int, int], end: tuple[int, int], button: int = LEFT, moves: int = 8) -> list[Event]:
    """Return the events that press a button at `start`, move in a straight line, and release it at `end`.

    Sent in one step, the drag may be too fast for a window manager, which grabs a window some milliseconds after the
    press. To drag windows, send one event per step: `for event in drag(start, end): env.step([[event]])`, at 60 steps
    per second or fewer.

    Args:
        start, end: (x, y) in pixels.
        button: the bit of the button in a button mask.
        moves: the number of pointer movements between the two.
    """
    (x0, y0), (x1, y1) = start, end
    path = [
        PointerEvent(x0 + (x1 - x0) * step // moves, y0 + (y1 - y0) * step // moves, button)
        for step in range(moves + 1)
    ]
    return [PointerEvent(x0, y0, 0), *path, PointerEvent(x1, y1, 0)]


def scroll(x: int, y: int, notches: int) -> list[Event]:
    """Return the events that turn the wheel at (x, y) by `notches`: down if positive, up if negative."""
    return click(x, y, WHEEL_DOWN if notches > 0 else WHEEL_UP, abs(notches))
