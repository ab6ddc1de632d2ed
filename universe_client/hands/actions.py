"""The words of a batch: what `Computer.do` plays. Coordinates are pixels of the newest whole picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Button = Literal["left", "middle", "right", "back", "forward"]
"""The buttons of a mouse; "back" and "forward" are X buttons 8 and 9."""


@dataclass(frozen=True, slots=True)
class Click:
    """Move the pointer to (x, y), then press and release a button `count` times, 1 to 3.

    Without x and y the click is where the pointer is. `modifiers` are keys that are held meanwhile: ("ctrl",).
    """

    x: int | None = None
    y: int | None = None
    button: Button = "left"
    count: int = 1
    modifiers: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Move:
    """Move the pointer to (x, y); buttons that are down stay down. `modifiers` are held meanwhile."""

    x: int
    y: int
    modifiers: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Drag:
    """Press a button at the first point of `path`, move along the others, and release it at the last.

    `path` has at least two points (x, y). `modifiers` are held meanwhile.
    """

    path: Sequence[tuple[int, int]]
    button: Button = "left"
    modifiers: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Scroll:
    """Turn the wheel at (x, y): `dy` notches down (negative: up), `dx` notches to the right (negative: left).

    Without x and y it is where the pointer is. At most 100 notches each. `modifiers` are held meanwhile.
    """

    x: int | None = None
    y: int | None = None
    dx: int = 0
    dy: int = 0
    modifiers: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class ButtonDown:
    """Press a button where the pointer is. It stays down until `ButtonUp`, an error, or the end of the episode."""

    button: Button = "left"


@dataclass(frozen=True, slots=True)
class ButtonUp:
    """Release a button where the pointer is."""

    button: Button = "left"


@dataclass(frozen=True, slots=True)
class Type:
    """Type a text: any Unicode characters, whatever the layout of the remote's keyboard. "\\n" is the Return key."""

    text: str


@dataclass(frozen=True, slots=True)
class Press:
    """Press keys together and release them, `repeat` times, 1 to 100: "ctrl+s", "Page_Up". See `parse_keys`."""

    keys: str
    repeat: int = 1


@dataclass(frozen=True, slots=True)
class Hold:
    """Hold keys down together for some seconds, at most 300."""

    keys: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Wait:
    """Do nothing for some seconds, at most 300."""

    seconds: float


Action = Click | Move | Drag | Scroll | ButtonDown | ButtonUp | Type | Press | Hold | Wait
"""Anything that `Computer.do` plays."""
