"""What the actions of Anthropic's tools mean: one row for each, the same in all versions of the tools.

Each row turns the arguments of the model into `hands.actions`. The three actions that only look (`screenshot`, `zoom`,
`cursor_position`) are not rows: each version of the tool answers them in its own way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal, TypeVar

import msgspec

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

MAX_REPEAT = 100
MAX_SECONDS = 300.0
MAX_NOTCHES = 100
"""The vendor states the first two limits in the descriptions of its tools, and none for the wheel."""

_T = TypeVar("_T")


class Arguments(msgspec.Struct, frozen=True, kw_only=True):
    """The arguments of all actions. Unknown ones are ignored: a newer model may send more."""

    text: str | None = None
    key: str | None = None
    """The keys that are held during a click, in computer_20250124. The other versions have them in `text`."""
    repeat: int | None = None
    duration: float | None = None
    coordinate: tuple[int, int] | None = None
    start_coordinate: tuple[int, int] | None = None
    scroll_direction: Literal["up", "down", "left", "right"] | None = None
    scroll_amount: int | None = None
    region: tuple[int, int, int, int] | None = None

    @property
    def at(self) -> tuple[int | None, int | None]:
        """The place of the action; (None, None) is where the pointer is."""
        return self.coordinate or (None, None)

    @property
    def modifiers(self) -> tuple[str, ...]:
        """The keys that are held during the action."""
        held = self.text or self.key
        return tuple(held.split("+")) if held else ()


def parse(arguments: Mapping[str, object]) -> Arguments:
    """Return the arguments that a model sent.

    Raises:
        InvalidAction: one has the wrong type; the message says which.
    """
    try:
        return msgspec.convert(arguments, Arguments)
    except msgspec.ValidationError as error:
        raise InvalidAction(str(error)) from None


def actions_of(name: str, arguments: Arguments) -> list[Action]:
    """Return what the action `name` does.

    Raises:
        InvalidAction: there is no such action, or an argument is missing or out of its range.
    """
    if name not in _ROWS:
        raise InvalidAction(f"there is no action {name!r}; there are {', '.join([*_ROWS, *LOOKS])}")
    return _ROWS[name](arguments)


def needed(value: _T | None, name: str) -> _T:
    """Return an argument that must be there.

    Raises:
        InvalidAction: it is not.
    """
    if value is None:
        raise InvalidAction(f"the argument {name!r} is missing")
    return value


def _within(value: float, name: str, low: float, high: float) -> float:
    if not low <= value <= high:
        raise InvalidAction(f"{name}={value:g} is out of range: {low:g} to {high:g}")
    return value


def _key(arguments: Arguments) -> list[Action]:
    """xdotool takes several chords, separated by spaces."""
    chords = needed(arguments.text, "text").split() or ["space"]
    repeat = int(_within(1 if arguments.repeat is None else arguments.repeat, "repeat", 1, MAX_REPEAT))
    if len(chords) == 1:
        return [Press(chords[0], repeat=repeat)]
    return [Press(chord) for _ in range(repeat) for chord in chords]


def _hold_key(arguments: Arguments) -> list[Action]:
    return [Hold(needed(arguments.text, "text"), _duration(arguments))]


def _duration(arguments: Arguments) -> float:
    return _within(needed(arguments.duration, "duration"), "duration", 0, MAX_SECONDS)


def _mouse_move(arguments: Arguments) -> list[Action]:
    return [Move(*needed(arguments.coordinate, "coordinate"))]


def _click(button: Literal["left", "middle", "right"], count: int) -> Callable[[Arguments], list[Action]]:
    return lambda arguments: [Click(*arguments.at, button=button, count=count, modifiers=arguments.modifiers)]


def _left_click_drag(arguments: Arguments) -> list[Action]:
    """computer_20241022 drags from where the pointer is."""
    end = needed(arguments.coordinate, "coordinate")
    if arguments.start_coordinate is None:
        return [ButtonDown(), Move(*end), ButtonUp()]
    return [Drag([arguments.start_coordinate, end], modifiers=arguments.modifiers)]


_DIRECTIONS = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}


def _scroll(arguments: Arguments) -> list[Action]:
    dx, dy = _DIRECTIONS[needed(arguments.scroll_direction, "scroll_direction")]
    amount = int(_within(needed(arguments.scroll_amount, "scroll_amount"), "scroll_amount", 0, MAX_NOTCHES))
    return [Scroll(*arguments.at, dx=dx * amount, dy=dy * amount, modifiers=arguments.modifiers)]


_ROWS: dict[str, Callable[[Arguments], list[Action]]] = {
    "key": _key,
    "hold_key": _hold_key,
    "type": lambda arguments: [Type(needed(arguments.text, "text"))],
    "mouse_move": _mouse_move,
    "left_mouse_down": lambda _: [ButtonDown()],
    "left_mouse_up": lambda _: [ButtonUp()],
    "left_click": _click("left", 1),
    "right_click": _click("right", 1),
    "middle_click": _click("middle", 1),
    "double_click": _click("left", 2),
    "triple_click": _click("left", 3),
    "left_click_drag": _left_click_drag,
    "scroll": _scroll,
    "wait": lambda arguments: [Wait(_duration(arguments))],
}
ACTS: Sequence[str] = tuple(_ROWS)
"""The actions that do something."""
LOOKS = ("screenshot", "zoom", "cursor_position")
"""The actions that only look."""
