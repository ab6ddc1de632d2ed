"""Keyboard and pointer events, and their encoding as RFB messages."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from vnc.keysyms import keysym

KEY_EVENT = 4
POINTER_EVENT = 5


@dataclass(frozen=True, slots=True)
class KeyEvent:
    """A key is pressed or released (RFC 6143 section 7.5.4)."""

    keysym: int
    """X11 keysym of the key, see `vnc.keysyms.keysym`."""
    down: bool
    """True: pressed; False: released."""

    @classmethod
    def by_name(cls, key: str | int, down: bool) -> KeyEvent:
        """Return the event for a key.

        Args:
            key: a key name such as "Left", a character, or a keysym; see `vnc.keysyms.keysym`.
            down: True: pressed; False: released.

        Raises:
            ValueError: no key has this name.
        """
        return cls(keysym(key), down)

    @classmethod
    def build(cls, keys: str) -> list[KeyEvent]:
        """Return the events of a chord: each key is pressed, then each is released in reverse order.

        Args:
            keys: key names joined by "-", such as "ctrl-t".

        Raises:
            ValueError: no key has one of the names.
        """
        names = keys.split("-")
        return [cls.by_name(key, True) for key in names] + [cls.by_name(key, False) for key in names[::-1]]


@dataclass(frozen=True, slots=True)
class PointerEvent:
    """The pointer moves, and exactly the buttons in `button_mask` are held (RFC 6143 section 7.5.5)."""

    x: int
    """Column in pixels from the left edge, 0 to width - 1."""
    y: int
    """Row in pixels from the top edge, 0 to height - 1."""
    button_mask: int
    """One bit per button, 0 to 511: bit 0 left, 1 middle, 2 right, 3 to 6 one notch of the wheel up, down, left and
    right, 7 back, 8 forward."""


Event = KeyEvent | PointerEvent
"""An input event."""

TimedEvents = tuple[float, Sequence[Event]]
"""Events and when to send them: seconds of `time.monotonic()` (CLOCK_MONOTONIC)."""

_KEY = struct.Struct(">BBHI")  # 1 message-type + 1 down-flag + 2 padding + 4 keysym
_POINTER = struct.Struct(">BBHH")  # 1 message-type + 1 button-mask + 2 x + 2 y


MOST_BUTTONS = 0x1FF
"""The largest button mask: nine buttons."""
_MORE_BUTTONS = (
    0x80  # an ExtendedPointerEvent has this bit, and another byte with the buttons from the eighth on
)


def encode(events: Iterable[Event], more_buttons: bool = False) -> bytes:
    """Return the RFB messages for `events`, in order.

    Args:
        events: `KeyEvent`s and `PointerEvent`s.
        more_buttons: whether the server has confirmed ExtendedMouseButtons (rfbproto). Otherwise the ninth button is
            left out: such a server knows eight.
    """
    return b"".join(
        _KEY.pack(KEY_EVENT, event.down, 0, event.keysym)
        if isinstance(event, KeyEvent)
        else _pointer(event, more_buttons)
        for event in events
    )


def _pointer(event: PointerEvent, more_buttons: bool) -> bytes:
    mask = event.button_mask
    if mask < _MORE_BUTTONS or not more_buttons:
        return _POINTER.pack(POINTER_EVENT, mask & 0xFF, event.x, event.y)
    low, high = mask & 0x7F | _MORE_BUTTONS, mask >> 7
    return _POINTER.pack(POINTER_EVENT, low, event.x, event.y) + bytes((high,))
