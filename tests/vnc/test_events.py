"""Events and their bytes (RFC 6143 section 7.5.4 and 7.5.5)."""

from __future__ import annotations

import dataclasses
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vnc.events import KeyEvent, PointerEvent, encode


def test_the_bytes_of_each():
    assert encode([KeyEvent(0x01020304, True)]) == bytes([4, 1, 0, 0, 1, 2, 3, 4])
    assert encode([KeyEvent(0x61, False)]) == bytes([4, 0, 0, 0, 0, 0, 0, 0x61])
    assert encode([PointerEvent(0x0102, 0x0304, 0x81)]) == bytes([5, 0x81, 1, 2, 3, 4])
    assert encode([]) == b""


def test_key_events_are_made_of_names():
    assert KeyEvent.by_name("a", down=True) == KeyEvent(0x61, True)
    assert KeyEvent.build("ctrl-t") == [
        KeyEvent.by_name(name, down)
        for name, down in (("ctrl", True), ("t", True), ("t", False), ("ctrl", False))
    ]


KEYS = st.builds(KeyEvent, st.integers(0, 0xFFFFFFFF), st.booleans())
POINTERS = st.builds(PointerEvent, st.integers(0, 65535), st.integers(0, 65535), st.integers(0, 511))


@given(st.lists(KEYS | POINTERS), st.booleans())
def test_order_and_values_survive_the_wire(events, more_buttons):
    data, read = encode(events, more_buttons), []
    while data:
        if data[0] == 4:
            _, down, _, keysym = struct.unpack(">BBHI", data[:8])
            read.append(KeyEvent(keysym, bool(down)))
            data = data[8:]
        else:
            _, mask, x, y = struct.unpack(">BBHH", data[:6])
            data = data[6:]
            if more_buttons and mask & 0x80:
                mask, data = mask & 0x7F | data[0] << 7, data[1:]
            read.append(PointerEvent(x, y, mask))
    if not more_buttons:
        ninth = {
            event: PointerEvent(event.x, event.y, event.button_mask & 0xFF)
            for event in events
            if isinstance(event, PointerEvent)
        }
        events = [ninth.get(event, event) for event in events]
    assert read == events


def test_events_are_values():
    assert KeyEvent(1, True) == KeyEvent(1, True)
    assert len({PointerEvent(1, 2, 3), PointerEvent(1, 2, 3)}) == 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        KeyEvent(1, True).down = False  # type: ignore[misc]
