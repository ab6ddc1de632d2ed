"""Actions as input events in time: first all of a batch are checked, then they are played."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from universe_client.hands.actions import (
    Action,
    ButtonDown,
    ButtonUp,
    Click,
    Drag,
    Hold,
    Move,
    Press,
    Scroll,
    Type,
    Wait,
)
from universe_client.hands.errors import InvalidAction
from universe_client.hands.keys import parse_keys, parse_modifiers, text_keysyms
from vnc.events import Event, KeyEvent, PointerEvent

TAP = 0.01
"""Seconds between the press and the release of a key or button: some programs look only once per frame."""
DRAG_STEP = 0.012
"""Seconds between two movements of a drag: window managers grab a window some milliseconds after the press."""
_DRAG_PIXELS = 40  # the longest movement of a drag, at most `_DRAG_MOVES` of them for one part of the path
_DRAG_MOVES = 24
NEW_CHARACTER = 0.012
"""Seconds after a character that the remote's layout may lack: the remote gives it a keycode, programs look it up, and
`rewarder.display.spare_keys` frees another."""
_KNOWN = 64  # characters after which one may have lost its keycode again
MOST_SECONDS, MOST_REPEATS, MOST_NOTCHES, MOST_CLICKS = 300, 100, 100, 3

_BUTTONS = {"left": 1, "middle": 2, "right": 4, "back": 128, "forward": 256}
_UP, _DOWN, _LEFT, _RIGHT = 8, 16, 32, 64

Beat = tuple[Sequence[Event], float]
"""Events, and the seconds that pass after them."""
Place = Callable[[Any, Any], tuple[int, int]]
"""Where on the screen (x, y) of the picture is; it raises InvalidAction."""


@dataclass(frozen=True, slots=True)
class Pointer:
    """The mouse: where it is on the screen, and which buttons are down."""

    x: int
    y: int
    mask: int

    def at(self, x: int, y: int) -> Pointer:
        """Return the mouse somewhere else."""
        return Pointer(x, y, self.mask)

    def event(self, more: int = 0) -> PointerEvent:
        """Return the event for this state, with `more` buttons."""
        return PointerEvent(self.x, self.y, self.mask | more)


def beats(action: Action, pointer: Pointer, place: Place) -> Iterator[Beat]:
    """Play an action: yield events, and how long to wait after each list of them.

    Raises:
        InvalidAction: at the first beat; the action cannot be played.
    """
    match action:
        case Click():
            yield from _held(parse_modifiers(action.modifiers), _click(action, _to(action, pointer, place)))
        case Move():
            moved = pointer.at(*place(action.x, action.y)).event()
            yield from _held(parse_modifiers(action.modifiers), [([moved], 0.0)])
        case Drag():
            yield from _held(parse_modifiers(action.modifiers), _drag(action, pointer, place))
        case Scroll():
            yield from _held(parse_modifiers(action.modifiers), _scroll(action, _to(action, pointer, place)))
        case ButtonDown():
            yield [pointer.event(_button(action.button))], TAP
        case ButtonUp():
            yield [PointerEvent(pointer.x, pointer.y, pointer.mask & ~_button(action.button))], 0.0
        case Type():
            yield from _type(text_keysyms(_text(action.text)))
        case Press():
            keys = parse_keys(_text(action.keys))
            for _ in range(_count("repeat", action.repeat, MOST_REPEATS)):
                yield from _held(keys, [([], TAP)])
        case Hold():
            yield from _held(parse_keys(_text(action.keys)), [([], _seconds(action.seconds))])
        case Wait():
            yield [], _seconds(action.seconds)
        case _:
            raise InvalidAction(f"{action!r} is not an action of universe_client.hands")


def checked(actions: Sequence[Action] | Action, place: Place, buttons: int) -> list[Action]:
    """Return a batch whose actions can all be played; see `check`.

    Raises:
        InvalidAction: an action cannot be played; the message has its number in the batch.
    """
    batch = list(actions) if isinstance(actions, Sequence) else [actions]
    for number, action in enumerate(batch):
        try:
            check(action, place, buttons)
        except InvalidAction as error:
            where = f"action {number + 1} of {len(batch)}: " if len(batch) > 1 else ""
            raise InvalidAction(f"{where}{error}") from None
    return batch


def check(action: Action, place: Place, buttons: int = 9) -> None:
    """Check that an action can be played by a server that knows so many `buttons`.

    Raises:
        InvalidAction: it cannot.
    """
    for events, _ in beats(action, Pointer(0, 0, 0), place):
        if any(isinstance(event, PointerEvent) and event.button_mask >> buttons for event in events):
            raise InvalidAction(
                "the remote's VNC server knows neither the button 'back' nor 'forward': press alt+Left or alt+Right"
            )


def _to(action: Click | Scroll, pointer: Pointer, place: Place) -> Pointer:
    if action.x is None and action.y is None:
        return pointer
    return pointer.at(*place(action.x, action.y))


def _held(keys: Sequence[int], inner: Iterator[Beat] | Sequence[Beat]) -> Iterator[Beat]:
    """Play `inner` while keys are down."""
    if keys:
        yield [KeyEvent(key, True) for key in keys], 0.0
    yield from inner
    if keys:
        yield [KeyEvent(key, False) for key in reversed(keys)], 0.0


def _click(action: Click, pointer: Pointer) -> Iterator[Beat]:
    button = _button(action.button)
    yield [pointer.event()], 0.0
    for _ in range(_count("count", action.count, MOST_CLICKS)):
        yield [pointer.event(button)], TAP
        yield [pointer.event()], TAP


def _drag(action: Drag, pointer: Pointer, place: Place) -> Iterator[Beat]:
    button = _button(action.button)
    try:
        points = [place(x, y) for x, y in action.path]
    except (TypeError, ValueError) as error:
        if isinstance(error, InvalidAction):
            raise
        raise InvalidAction(f"path={action.path!r} is not a list of points (x, y)") from None
    if len(points) < 2:
        raise InvalidAction(f"a drag needs at least 2 points, not {len(points)}")
    yield [pointer.at(*points[0]).event()], DRAG_STEP
    yield [pointer.at(*points[0]).event(button)], DRAG_STEP
    for start, end in pairwise(points):
        for x, y in _line(start, end):
            yield [pointer.at(x, y).event(button)], DRAG_STEP
    yield [pointer.at(*points[-1]).event()], 0.0


def _line(start: tuple[int, int], end: tuple[int, int]) -> list[tuple[int, int]]:
    """Return the points of a straight movement, without its start."""
    (x, y), (across, down) = start, (end[0] - start[0], end[1] - start[1])
    moves = min(_DRAG_MOVES, 3 + max(abs(across), abs(down)) // _DRAG_PIXELS)
    return [(x + across * step // moves, y + down * step // moves) for step in range(1, moves + 1)]


def _scroll(action: Scroll, pointer: Pointer) -> Iterator[Beat]:
    yield [pointer.event()], 0.0
    for notches, buttons in ((action.dy, (_UP, _DOWN)), (action.dx, (_LEFT, _RIGHT))):
        if isinstance(notches, bool) or not isinstance(notches, int) or abs(notches) > MOST_NOTCHES:
            raise InvalidAction(
                f"{notches!r} notches of the wheel: an integer from {-MOST_NOTCHES} to {MOST_NOTCHES}"
            )
        turn = [pointer.event(buttons[notches > 0]), pointer.event()]
        yield turn * abs(notches), 0.0


def _type(keysyms: Sequence[int]) -> Iterator[Beat]:
    known: dict[int, None] = {}  # the newest last
    for key in keysyms:
        yield [KeyEvent(key, True), KeyEvent(key, False)], 0.0 if key < 128 or key in known else NEW_CHARACTER
        known.pop(key, None)
        known[key] = None
        if len(known) > _KNOWN:
            del known[next(iter(known))]


def _button(name: Any) -> int:
    mask = _BUTTONS.get(name) if isinstance(name, str) else None
    if mask is None:
        raise InvalidAction(f"there is no button {name!r}: one of {', '.join(_BUTTONS)}")
    return mask


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise InvalidAction(f"{value!r} is not a text")
    return value


def _count(name: str, value: Any, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
        raise InvalidAction(f"{name}={value!r} is not an integer from 1 to {most}")
    return value


def _seconds(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= MOST_SECONDS:
        raise InvalidAction(f"{value!r} s is not a number of seconds from 0 to {MOST_SECONDS}")
    return float(value)
