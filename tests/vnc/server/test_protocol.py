"""The server's protocol without sockets: versions, security, messages, hostile lengths."""

from __future__ import annotations

import struct

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from vnc.errors import AuthError, LimitExceeded, ProtocolError
from vnc.events import KeyEvent, PointerEvent, encode
from vnc.pixels.pixel_format import BGR233, RGBX
from vnc.server.conversation import MAX_ENCODINGS
from vnc.server.framebuffer.damage import Rect
from vnc.server.protocol import (
    AUTH_FAILED,
    REFUSED,
    Established,
    Message,
    ServerProtocol,
    SetEncodings,
    SetPixelFormat,
    SharedRelease,
    UpdateRequest,
)
from vnc.vncauth import Access, Passwords, challenge_response

BANNER = b"RFB 003.008\n"
SERVER_INIT = struct.pack(">HH", 32, 24) + RGBX.encode() + struct.pack(">I", 4) + b"test"
OK, FAILED = struct.pack(">I", 0), struct.pack(">I", 1)


def protocol(password: str | None = None, watch: str | None = None, refuse: bool = False) -> ServerProtocol:
    return ServerProtocol(32, 24, "test", Passwords(password, watch), refuse=refuse)


def reason(text: str) -> bytes:
    return struct.pack(">I", len(text)) + text.encode()


def established() -> ServerProtocol:
    server = protocol()
    assert server.receive(BANNER + b"\1\1") == [Established(Access.FULL)]
    server.data_to_send()
    return server


AS_3_3 = [b"003.003", b"003.005", b"003.006", b"003.889", b"004.001", b"005.000", b"002.000", b"003.009"]


@pytest.mark.parametrize("version", AS_3_3)
def test_versions_that_were_never_published_are_3_3(version: bytes) -> None:
    server = protocol()
    assert server.receive(b"RFB " + version + b"\n") == []
    assert server.data_to_send() == BANNER + struct.pack(">I", 1)
    assert server.receive(b"\0") == [Established(Access.FULL)]
    assert server.data_to_send() == SERVER_INIT


def test_3_7_has_no_result_without_authentication() -> None:
    server = protocol()
    assert server.receive(b"RFB 003.007\n\1\1") == [Established(Access.FULL)]
    assert server.data_to_send() == BANNER + b"\1\1" + SERVER_INIT


def test_3_8_always_has_a_result() -> None:
    server = protocol()
    assert server.receive(BANNER + b"\1\0") == [Established(Access.FULL)]
    assert server.data_to_send() == BANNER + b"\1\1" + OK + SERVER_INIT


@pytest.mark.parametrize("minor", [3, 7, 8])
@pytest.mark.parametrize(
    ("given_password", "access"), [("drive", Access.FULL), ("watch", Access.VIEW_ONLY), ("wrong", None)]
)
def test_vnc_authentication(minor: int, given_password: str, access: Access | None) -> None:
    server = protocol("drive", "watch")
    server.receive(b"RFB 003.%03d\n" % minor)
    if minor >= 7:
        assert server.data_to_send() == BANNER + b"\1\2"
        server.receive(b"\2")
        challenge = server.data_to_send()
    else:
        sent = server.data_to_send()
        assert sent[:16] == BANNER + struct.pack(">I", 2)
        challenge = sent[16:]
    assert len(challenge) == 16
    response = challenge_response(challenge, given_password)
    if access is None:
        with pytest.raises(AuthError, match=r"^authentication failed$"):
            server.receive(response)
        assert server.data_to_send() == FAILED + (reason(AUTH_FAILED) if minor == 8 else b"")
        assert server.receive(b"\1" * 100_000) == []
        assert server.data_to_send() == b""
    else:
        assert server.receive(response + b"\1") == [Established(access)]
        assert server.data_to_send() == OK + SERVER_INIT


def test_challenges_differ() -> None:
    challenges = set()
    for _ in range(4):
        server = protocol("drive")
        server.receive(BANNER + b"\2")
        challenges.add(server.data_to_send()[14:])
    assert len(challenges) == 4


def test_none_cannot_be_chosen_when_a_password_is_required() -> None:
    server = protocol("drive")
    with pytest.raises(ProtocolError, match="security type 1, offered was 2"):
        server.receive(BANNER + b"\1\1")
    assert server.data_to_send() == BANNER + b"\1\2" + FAILED + reason("security type not offered")


@pytest.mark.parametrize(("minor", "none_offered"), [(3, OK), (7, b"\0"), (8, b"\0")])
def test_a_refused_address_is_told_why_before_it_may_try(minor: int, none_offered: bytes) -> None:
    server = protocol("drive", refuse=True)
    with pytest.raises(AuthError):
        server.receive(b"RFB 003.%03d\n" % minor)
    assert server.data_to_send() == BANNER + none_offered + reason(REFUSED)


@pytest.mark.parametrize(
    "line", [b"GET / HTTP/1", b"\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03!", b"RFB 3.8\n\n\n\n\n"]
)
def test_what_is_not_rfb_is_refused(line: bytes) -> None:
    with pytest.raises(ProtocolError, match="not an rfb version"):
        protocol().receive(line)


MESSAGES: list[tuple[bytes, Message]] = [
    (b"\0\0\0\0" + BGR233.encode(), SetPixelFormat(BGR233)),
    (struct.pack(">BxH3i", 2, 3, 16, -239, 0), SetEncodings((16, -239, 0))),
    (struct.pack(">BxH", 2, 0), SetEncodings(())),
    (struct.pack(">BBHHHH", 3, 1, 1, 2, 3, 65535), UpdateRequest(True, Rect(1, 2, 3, 65535))),
    (encode([KeyEvent(0xFF0D, True)]), KeyEvent(0xFF0D, True)),
    (encode([PointerEvent(65535, 7, 255)]), PointerEvent(65535, 7, 255)),
]
CUT_TEXT = struct.pack(">B3xI", 6, 5) + b"hello"


def test_a_client_may_send_the_ninth_button_after_it_has_asked() -> None:
    server = protocol()
    server.receive(b"RFB 003.008\n\x01\x01")
    server.receive(struct.pack(">BxHi", 2, 1, -316))
    events = [PointerEvent(1, 2, mask) for mask in (0, 0x7F, 0x80, 0x100, 0x1FF, 1)]
    assert server.receive(encode(events, more_buttons=True)) == events
    server.receive(struct.pack(">BxHi", 2, 1, 0))
    assert server.receive(encode([PointerEvent(1, 2, 0x80)])) == [PointerEvent(1, 2, 0x80)]


@given(st.lists(st.sampled_from(MESSAGES), max_size=8), st.integers(1, 40))
def test_messages_arrive_in_any_pieces(sent: list[tuple[bytes, Message]], size: int) -> None:
    server = protocol()
    stream = BANNER + b"\1\1" + CUT_TEXT.join([b"", *(wire for wire, _ in sent), b""])
    received: list[Message] = []
    for at in range(0, len(stream), size):
        received += server.receive(stream[at : at + size])
    assert received == [Established(Access.FULL), *(message for _, message in sent)]


FRAME_ANSWERS = [
    (struct.pack(">BBxxI", 0xE7, 1, number) + struct.pack(">BBHHHH", 3, 1, 0, 0, 32, 24), number)
    for number in range(30)
]


@settings(deadline=None)
@given(st.lists(st.sampled_from(FRAME_ANSWERS), max_size=60), st.integers(1, 40))
def test_bytes_that_come_again_mean_the_same(sent: list[tuple[bytes, int]], size: int) -> None:
    expected: list[Message] = []
    whole, pieces = established(), established()
    received: list[Message] = []
    cut: list[Message] = []
    for data, number in sent:
        expected += [SharedRelease(number), UpdateRequest(True, Rect(0, 0, 32, 24))]
        received += whole.receive(data)
    assert received == expected
    stream = b"".join(data for data, _ in sent)
    for at in range(0, len(stream), size):
        cut += pieces.receive(stream[at : at + size])
    assert cut == expected


def test_the_same_bytes_within_a_message_are_that_message() -> None:
    server, answer = established(), FRAME_ANSWERS[0][0]
    for _ in range(2):
        assert len(server.receive(answer)) == 2
        server.receive(struct.pack(">BxxxI", 6, len(answer)))  # clipboard text with these bytes
        assert server.receive(answer) == []


def test_input_that_comes_again_is_reported_again() -> None:
    server, press = established(), encode([KeyEvent(0x61, True)])
    assert [server.receive(press) for _ in range(3)] == [[KeyEvent(0x61, True)]] * 3


@pytest.mark.parametrize("kind", [1, 7, 150, 251, 255])
def test_unknown_messages_end_the_connection(kind: int) -> None:
    with pytest.raises(ProtocolError, match=f"unknown client message type {kind}"):
        established().receive(bytes([kind]))


def test_a_fence_comes_back_with_the_flags_that_we_hold_to() -> None:
    """Fences are answered in the order of the messages (rfbproto 7.4.8); an answer itself is not answered."""
    asked = struct.pack(">BxxxIB", 248, 1 << 31 | 7, 3) + b"abc"
    answer = struct.pack(">BxxxIB", 248, 3, 3) + b"abc"
    (fence,) = established().receive(asked + answer)
    assert fence.encode() == answer
    with pytest.raises(LimitExceeded, match="fence of 65 bytes, the limit is 64"):
        established().receive(struct.pack(">BxxxIB", 248, 0, 65))


def test_too_many_encodings_are_refused_before_they_are_read() -> None:
    with pytest.raises(ProtocolError, match="the limit is 1024"):
        established().receive(struct.pack(">BxH", 2, MAX_ENCODINGS + 1))


@pytest.mark.parametrize("length", [2**31, 2**32 - 1])
def test_negative_clipboard_lengths_are_refused(length: int) -> None:
    with pytest.raises(ProtocolError, match="bytes of clipboard"):
        established().receive(struct.pack(">B3xI", 6, length))


def test_a_huge_clipboard_is_dropped_without_being_held() -> None:
    server = established()
    server.receive(struct.pack(">B3xI", 6, 10_000_000))
    for _ in range(100):
        assert server.receive(bytes(100_000)) == []
        assert len(server._received) < 200_000
    assert server.receive(encode([KeyEvent(5, False)])) == [KeyEvent(5, False)]


@given(st.binary(max_size=300))
@example(encode([KeyEvent(0, False)]) + b"\1")
def test_garbage_ends_in_an_error_of_ours_or_nothing(data: bytes) -> None:
    server = established()
    try:
        server.receive(data)
    except ProtocolError:
        assert server.receive(b"\4" * 1000) == []
    assert len(server._received) <= 65536
