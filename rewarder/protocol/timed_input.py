"""Keys and pointer of people, as `messages.Input` contains them: JSON arrays whose last value is a time."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

Moment = Annotated[float, Meta(ge=0, lt=1 << 33)]
"""UNIX seconds, up to the year 2242, so that nanoseconds fit into 64 bits."""

_Place = Annotated[int, Meta(ge=0, lt=1 << 16)]


class KeyInput(Struct, frozen=True, array_like=True, tag="KeyEvent"):
    """`["KeyEvent", keysym, down, at]`."""

    keysym: Annotated[int, Meta(ge=0, lt=1 << 32)]
    down: bool
    at: Moment


class PointerInput(Struct, frozen=True, array_like=True, tag="PointerEvent"):
    """`["PointerEvent", x, y, button_mask, at]`."""

    x: _Place
    y: _Place
    button_mask: Annotated[int, Meta(ge=0, lt=1 << 9)]
    at: Moment


TimedInput = KeyInput | PointerInput
