"""Keyboard and pointer events: plain values, and their bytes on the wire."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import dataclass

KEY_EVENT = 4
POINTER_EVENT = 5


@dataclass(frozen=True, slots=True)
class KeyEvent:
    """A key goes down or up (RFC 6143 section 7.5.4); `keysym` is an X11 keysym, see `vnc.keysyms`."""

    keysym: int
    down: bool


@dataclass(frozen=True, slots=True)
class PointerEvent:
    """The pointer is at (x, y) and exactly the buttons in `button_mask` are held (RFC 6143 section 7.5.5).

    Bit 0 is the left button, 1 the middle, 2 the right, 3 and 4 one wheel notch up and down.
    """

    x: int
    y: int
    button_mask: int


Event = KeyEvent | PointerEvent

_KEY = struct.Struct(">BBHI")  # 1 message-type + 1 down-flag + 2 padding + 4 keysym
_POINTER = struct.Struct(">BBHH")  # 1 message-type + 1 button-mask + 2 x + 2 y


def encode(events: Iterable[Event]) -> bytes:
    """Return the RFB client messages for `events`, in order."""
    return b"".join(
        _KEY.pack(KEY_EVENT, event.down, 0, event.keysym)
        if isinstance(event, KeyEvent)
        else _POINTER.pack(POINTER_EVENT, event.button_mask, event.x, event.y)
        for event in events
    )
