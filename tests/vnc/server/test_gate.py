"""Which messages of a client the gate passes to the server."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vnc.encodings import SHARED_FRAMES
from vnc.errors import LimitExceeded, ProtocolError
from vnc.events import KeyEvent, PointerEvent
from vnc.server import gate as gate_module
from vnc.server.conversation import MAX_ENCODINGS
from vnc.server.gate import Gate

HELLO = b"RFB 003.008\n\x01\x01"  # version, security type None, ClientInit
PIXEL_FORMAT = struct.pack(">BxxxBBBB12x", 0, 32, 24, 0, 1)
ENCODINGS = struct.pack(">BxHii", 2, 2, 7, -239)
REQUEST = struct.pack(">BBHHHH", 3, 1, 0, 0, 64, 48)
KEY = struct.pack(">BBxxI", 4, 1, 0x61)
POINTER = struct.pack(">BBHH", 5, 1, 10, 20)
CUT_TEXT = struct.pack(">BxxxI", 6, 5) + b"hello"
EXTENDED_CLIPBOARD = struct.pack(">Bxxxi", 6, -4) + b"\x01\0\0\0"
UPDATES = b"\x96" + bytes(9)
FENCE = struct.pack(">BxxxIB", 248, 1, 3) + b"abc"
XVP = b"\xfa\0\1\2"
SET_SIZE = struct.pack(">BxHHBx", 251, 640, 480, 2) + bytes(32)
QEMU_KEY = struct.pack(">BBHII", 255, 0, 1, 0x61, 30)

SEEING = [PIXEL_FORMAT, ENCODINGS, REQUEST, UPDATES, FENCE]
INPUT = [KEY, POINTER, QEMU_KEY]
NEVER = [CUT_TEXT, EXTENDED_CLIPBOARD, XVP, SET_SIZE]
LENGTHS = {0: 20, 3: 10, 4: 8, 5: 6, 150: 10, 250: 4}


def opened(*, acting=False):
    gate = Gate(acting=acting)
    assert gate.receive(HELLO) == b""
    assert gate.opened
    gate.data_to_send()
    return gate


def messages(data):
    """Split forwarded bytes into messages, independently of the gate."""
    found = []
    while data:
        kind = data[0]
        if kind == 2:
            length = 4 + 4 * int.from_bytes(data[2:4], "big")
        elif kind == 248:
            length = 9 + data[8]
        else:
            length = {255: 12, **LENGTHS}[kind]
        assert len(data) >= length, "a message got through in part"
        found.append(data[:length])
        data = data[length:]
    return found


def test_what_is_pressed_is_known_if_it_is_passed_on():
    acting, watching = opened(acting=True), opened()
    data = KEY + REQUEST + POINTER + QEMU_KEY
    for gate in (acting, watching):
        gate.receive(data)
    assert acting.events == [KeyEvent(0x61, True), PointerEvent(10, 20, 1), KeyEvent(0x61, True)]
    assert watching.events == []
    acting.receive(REQUEST)
    assert acting.events == []


def test_the_handshake_asks_for_no_password():
    gate = Gate(acting=False)
    assert gate.data_to_send() == b"RFB 003.008\n"
    gate.receive(HELLO[:12])
    assert gate.data_to_send() == b"\x01\x01"
    gate.receive(HELLO[12:13])
    assert gate.data_to_send() == bytes(4)
    assert not gate.opened
    gate.receive(HELLO[13:])
    assert gate.opened and gate.data_to_send() == b""


def test_who_watches_is_not_heard():
    everything = b"".join(SEEING + INPUT + NEVER + SEEING)
    assert opened().receive(everything) == b"".join(SEEING + SEEING)


def test_who_acts_is_heard_but_for_clipboard_size_and_power():
    everything = b"".join(NEVER + INPUT + SEEING + NEVER)
    assert opened(acting=True).receive(everything) == b"".join(INPUT + SEEING)


@given(st.lists(st.sampled_from(SEEING + INPUT + NEVER)), st.lists(st.integers(1, 40)), st.booleans())
def test_segments_make_no_difference(sent, sizes, acting):
    data, gate, passed = HELLO + b"".join(sent), Gate(acting=acting), b""
    for size in sizes:
        passed += gate.receive(data[:size])
        data = data[size:]
    passed += gate.receive(data)
    allowed = SEEING + INPUT if acting else SEEING
    assert messages(passed) == [message for message in sent if message in allowed]


@given(st.binary(max_size=400))
def test_no_bytes_whatever_become_input(noise):
    gate = opened()
    passed = b""
    try:
        for byte in noise:
            passed += gate.receive(bytes([byte]))
    except ProtocolError:
        pass
    assert {message[0] for message in messages(passed)} <= {0, 2, 3, 150, 248}


@pytest.mark.parametrize("kind", [1, 7, 100, 249, 252, 254])
def test_an_unknown_message_ends_it_for_good(kind):
    gate = opened(acting=True)
    with pytest.raises(ProtocolError, match=f"unknown client message type {kind}"):
        gate.receive(REQUEST + bytes([kind]) + KEY)
    assert gate.receive(KEY * 3) == b""


@pytest.mark.parametrize(
    ("message", "what"),
    [
        (struct.pack(">BxH", 2, MAX_ENCODINGS + 1), "encodings"),
        (struct.pack(">BxxxI", 6, gate_module.MAX_CUT_TEXT + 1), "clipboard"),
        (struct.pack(">Bxxxi", 6, -(2**31)), "clipboard"),
        (struct.pack(">BxxxIB", 248, 0, 65), "fence"),
    ],
)
def test_lengths_are_bounded(message, what):
    with pytest.raises(LimitExceeded, match=what):
        opened().receive(message)


@pytest.mark.parametrize(
    "hello", [b"RFB 003.003\n", b"GET / HTTP/1.1", HELLO[:12] + b"\x02", HELLO[:12] + b"\x13"]
)
def test_a_handshake_that_is_none_is_refused(hello):
    with pytest.raises(ProtocolError):
        Gate(acting=True).receive(hello)


def test_neither_shared_frames_nor_longer_pointer_events_are_asked_for():
    asked = struct.pack(">BxHiiii", 2, 4, SHARED_FRAMES, 7, -316, -239)
    assert opened().receive(asked) == ENCODINGS


def test_an_unknown_qemu_message_is_refused():
    with pytest.raises(ProtocolError, match="qemu client message 1"):
        opened(acting=True).receive(b"\xff\x01")


def test_a_long_clipboard_is_not_kept():
    gate = opened()
    gate.receive(struct.pack(">BxxxI", 6, gate_module.MAX_CUT_TEXT))
    for _ in range(gate_module.MAX_CUT_TEXT // 4096):
        assert gate.receive(bytes(4096)) == b""
        assert len(gate._received) <= 16 * 1024
    assert gate.receive(REQUEST) == REQUEST
