"""Keyboard and pointer events: plain values, and their bytes on the wire."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import dataclass

from vnc.keysyms import keysym

KEY_EVENT = 4
POINTER_EVENT = 5


@dataclass(frozen=True, slots=True)
class KeyEvent:
    """A key goes down or up (RFC 6143 section 7.5.4); `keysym` is an X11 keysym, see `vnc.keysyms`."""

    keysym: int
    down: bool

    @classmethod
    def by_name(cls, key: str | int, down: bool) -> KeyEvent:
        """Return the event of a key by its name, character or keysym; see `vnc.keysyms.keysym`."""
        return cls(keysym(key), down)

    @classmethod
    def build(cls, keys: str) -> list[KeyEvent]:
        """Return a chord such as "ctrl-t": each key goes down, then each goes up in reverse order."""
        names = keys.split("-")
        return [cls.by_name(key, True) for key in names] + [cls.by_name(key, False) for key in names[::-1]]


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
