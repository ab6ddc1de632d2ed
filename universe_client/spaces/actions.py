"""Actions are lists of events: reading the agent's, and building common ones."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any

from universe_client.errors import ConfigError
from vnc.events import Event, KeyEvent, PointerEvent
from vnc.keysyms import keysym

_MAX_COORDINATE = 0xFFFF
LEFT, MIDDLE, RIGHT, WHEEL_UP, WHEEL_DOWN = 1, 2, 4, 8, 16
"""Bits of a button_mask."""


def parse(action: Sequence[object], slot: int) -> list[Event]:
    """Return one slot's action as events.

    Args:
        action: `("KeyEvent", name_or_keysym, down)`, `("PointerEvent", x, y, button_mask)`, or the same as
            `KeyEvent` and `PointerEvent` values, in any mixture.
        slot: whose action it is, for the error.

    Raises:
        ConfigError: something in it is no event.
    """
    # A pattern knows that text and bytes are no sequences, and asks in a third of the time of isinstance.
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
        f"action of slot {slot}: {event!r} is no event; events are ('KeyEvent', key, down) and "
        "('PointerEvent', x, y, button_mask) with x and y within 0..65535 and the mask within 0..255"
    )


def _pointer(x: Any, y: Any, mask: Any) -> PointerEvent | None:
    """Return the event if it fits the wire; numpy's integers are welcome, fractions are not."""
    try:
        x, y, mask = index(x), index(y), index(mask)
    except TypeError:
        return None
    fits = 0 <= x <= _MAX_COORDINATE and 0 <= y <= _MAX_COORDINATE and 0 <= mask <= 255
    return PointerEvent(x, y, mask) if fits else None


def key(name: str | int, down: bool) -> KeyEvent:
    """Press (down) or release one key, by name, character or keysym."""
    return KeyEvent(keysym(name), down)


def chord(*keys: str | int) -> list[Event]:
    """Press the keys in order and release them in reverse: `chord("ctrl", "t")`."""
    down: list[Event] = [key(name, True) for name in keys]
    return down + [key(name, False) for name in reversed(keys)]


def type_text(text: str) -> list[Event]:
    """Press and release the key of each character; the server finds the modifiers."""
    return [event for character in text for event in chord(character)]


def move(x: int, y: int, button_mask: int = 0) -> list[Event]:
    """Move the pointer, with these buttons held."""
    return [PointerEvent(x, y, button_mask)]


def click(x: int, y: int, button: int = LEFT, count: int = 1) -> list[Event]:
    """Move to (x, y), then press and release a button `count` times."""
    events: list[Event] = [PointerEvent(x, y, 0)]
    for _ in range(count):
        events += [PointerEvent(x, y, button), PointerEvent(x, y, 0)]
    return events


def drag(start: tuple[int, int], end: tuple[int, int], button: int = LEFT, moves: int = 8) -> list[Event]:
    """Press a button at `start`, move in a straight line, release it at `end`.

    A window manager takes hold of a window some milliseconds after the press, when a drag sent in one step is over. For
    windows, take one event a step: `for event in drag(start, end): env.step([[event]])`, 60 steps a second or fewer.
    """
    (x0, y0), (x1, y1) = start, end
    path = [
        PointerEvent(x0 + (x1 - x0) * step // moves, y0 + (y1 - y0) * step // moves, button)
        for step in range(moves + 1)
    ]
    return [PointerEvent(x0, y0, 0), *path, PointerEvent(x1, y1, 0)]


def scroll(x: int, y: int, notches: int) -> list[Event]:
    """Turn the wheel at (x, y): down for positive `notches`, up for negative."""
    return click(x, y, WHEEL_DOWN if notches > 0 else WHEEL_UP, abs(notches))
