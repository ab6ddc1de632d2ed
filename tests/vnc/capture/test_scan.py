"""The scanner, on hand-made messages in pieces of every size."""

from __future__ import annotations

import struct
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vnc.capture.scan import Payload, Scanner, ServerMessage
from vnc.errors import LimitExceeded, ProtocolError
from vnc.pixels.pixel_format import BGR233, RGBX, PixelFormat
from vnc.session import Limits

WIDTH, HEIGHT = 64, 48


def update(*rects: bytes, count: int | None = None) -> bytes:
    return struct.pack(">BxH", 0, len(rects) if count is None else count) + b"".join(rects)


def rect(
    encoding: int, payload: bytes = b"", x: int = 0, y: int = 0, width: int = 20, height: int = 10
) -> bytes:
    return struct.pack(">HHHHi", x, y, width, height, encoding) + payload


def compact(length: int) -> bytes:
    if length < 0x80:
        return bytes([length])
    if length < 0x4000:
        return bytes([length & 0x7F | 0x80, length >> 7])
    return bytes([length & 0x7F | 0x80, length >> 7 & 0x7F | 0x80, length >> 14])


def sized(data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + data


def hextile() -> bytes:
    """20x10 pixels are two tiles: one with colours and subrects, one raw of 4x10."""
    tile = bytes([2 | 4 | 8]) + b"BBBBFFFF" + bytes([3]) + b"xw" * 3
    return tile + bytes([1]) + bytes(4 * 10 * 4)


def coloured_hextile() -> bytes:
    tile = bytes([8 | 16, 2]) + b"PPPPxw" * 2
    return tile + bytes([0])


MESSAGES = {
    "raw": update(rect(0, bytes(20 * 10 * 4))),
    "copyrect": update(rect(1, b"\0\1\0\2"), rect(1, b"\0\1\0\2")),
    "rre": update(rect(2, struct.pack(">I", 2) + b"BBBB" + b"PPPPxxyywwhh" * 2)),
    "hextile": update(rect(5, hextile())),
    "hextile, coloured": update(rect(5, coloured_hextile())),
    "zlib": update(rect(6, sized(b"z" * 70))),
    "zrle": update(rect(16, sized(b"z" * 70))),
    "tight fill": update(rect(7, bytes([0x80]) + b"RGB")),
    "tight jpeg": update(rect(7, bytes([0x90]) + compact(300) + b"j" * 300)),
    "tight copy": update(rect(7, bytes([0x00]) + compact(5) + b"zzzzz")),
    "tight copy, uncompressed": update(rect(7, bytes([0x00]) + b"RGB" * 2, width=2, height=1)),
    "tight palette of 2": update(rect(7, bytes([0x50, 1, 1]) + b"RGB" * 2 + compact(9) + b"z" * 9)),
    "tight palette of 2, uncompressed": update(
        rect(7, bytes([0x50, 1, 1]) + b"RGB" * 2 + bytes(2 * 5), width=9, height=5)
    ),
    "tight palette of 5": update(rect(7, bytes([0x60, 1, 4]) + b"RGB" * 5 + compact(20000) + b"z" * 20000,
                                      width=64, height=48)),
    "tight gradient": update(rect(7, bytes([0x70, 2]) + compact(30) + b"z" * 30)),
    "last rect": update(rect(1, bytes(4)), rect(-224), count=0xFFFF),
    "cursor": update(rect(-239, bytes(9 * 3 * 4 + 2 * 3), width=9, height=3)),
    "x cursor": update(rect(-240, bytes(6 + 2 * 2 * 3), width=9, height=3)),
    "no x cursor": update(rect(-240, width=0, height=0)),
    "desktop size": update(rect(-223, width=100, height=200)),
    "extended desktop size": update(rect(-308, b"\2\0\0\0" + bytes(32), width=100, height=200)),
    "desktop name": update(rect(-307, sized(b"name"))),
    "pointer, keys, leds": update(rect(-232), rect(-258), rect(-261, b"\1")),
    "nothing": update(),
    "colour map": struct.pack(">BxHH", 1, 0, 3) + bytes(18),
    "bell": b"\2",
    "cut text": b"\3\0\0\0" + sized(b"secret"),
    "extended cut text": b"\3\0\0\0" + struct.pack(">i", -5) + b"12345",
    "end of continuous updates": b"\x96",
    "fence": b"\xf8\0\0\0" + bytes(4) + b"\3abc",
}  # fmt: skip


def scan(data: bytes, pixel_format: PixelFormat = RGBX) -> list[ServerMessage]:
    return Scanner(WIDTH, HEIGHT, pixel_format).receive(data)


@pytest.mark.parametrize("name", MESSAGES)
def test_a_message_ends_where_it_ends(name: str) -> None:
    scanner = Scanner(WIDTH, HEIGHT, RGBX)
    message = MESSAGES[name]
    assert scanner.receive(message[:-1]) == []
    (whole,) = scanner.receive(message[-1:])
    assert whole.data == message
    assert scanner.pending == 0


@given(st.lists(st.sampled_from(sorted(MESSAGES)), max_size=6), st.integers(1, 50))
def test_the_cuts_of_the_network_do_not_matter(names: list[str], piece: int) -> None:
    stream = b"".join(MESSAGES[name] for name in names)
    scanner = Scanner(WIDTH, HEIGHT, RGBX)
    found = [m for at in range(0, len(stream), piece) for m in scanner.receive(stream[at : at + piece])]
    assert found == scan(stream)
    assert [message.data for message in found] == [MESSAGES[name] for name in names]


def test_what_an_update_is_made_of() -> None:
    (message,) = scan(
        update(rect(0, bytes(800)), rect(1, bytes(4), width=2, height=2), rect(-224), count=0xFFFF)
    )
    assert (message.rects, message.pixels) == (3, 204)
    assert message.encodings == {0, 1, -224}


def test_compressed_payloads_and_their_streams() -> None:
    first = MESSAGES["zrle"]
    second = update(
        rect(16, sized(b"more")),
        rect(7, bytes([0x21]) + compact(4) + b"tttt"),  # stream 2, and a reset of stream 0
        rect(7, bytes([0x20]) + compact(4) + b"tttt"),
        rect(7, bytes([0x00]) + compact(4) + b"tttt"),
        rect(7, bytes([0x90]) + compact(4) + b"jjjj"),
        rect(7, bytes([0x01]) + compact(4) + b"tttt"),  # stream 0, which starts anew
    )
    _, message = scan(first + second)
    payloads = message.payloads
    streams = [(payload.stream, payload.fresh) for payload in payloads]
    assert streams == [(5, False), (2, True), (2, False), (0, True), (-1, False), (0, True)]
    data = [message.data[payload.start : payload.end] for payload in payloads]
    assert data == [b"more", b"tttt", b"tttt", b"tttt", b"jjjj", b"tttt"]
    assert isinstance(payloads[0], Payload)


def test_pixels_have_the_size_of_their_format() -> None:
    message = update(rect(0, bytes(200)), rect(7, b"\x80P"))
    assert [m.data for m in scan(message, BGR233)] == [message]


def test_a_resize_moves_the_edges() -> None:
    outside = rect(1, bytes(4), x=90)
    scanner = Scanner(WIDTH, HEIGHT, RGBX)
    scanner.receive(update(rect(-223, width=200, height=100)))
    assert (scanner.width, scanner.height) == (200, 100)
    assert len(scanner.receive(update(outside))) == 1


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (b"\7", "unknown server message type 7"),
        (update(rect(1, bytes(4), x=50)), r"rect 0 \(50, 0, 20x10, encoding 1\) is outside the 64x48"),
        (update(rect(1, bytes(4)), rect(99)), "rect 1 .* unknown encoding"),
        (update(rect(-12345)), "rect 0 has an unknown encoding -12345"),
        (update(rect(2, struct.pack(">I", 201))), "201 subrects"),
        (update(rect(7, b"\xa0")), "compression control 0xa0"),
        (update(rect(7, b"\x40\x03")), "tight filter 3"),
    ],
)
def test_what_is_not_rfb(data: bytes, error: str) -> None:
    with pytest.raises(ProtocolError, match=error):
        scan(data)


@pytest.mark.parametrize(
    "data",
    [
        update(rect(16, struct.pack(">I", 0xFFFFFFFF))),
        update(rect(-223, width=5000, height=10)),
        update(rect(-307, sized(bytes(2 << 20)))),
    ],
)
def test_what_is_too_much(data: bytes) -> None:
    with pytest.raises(LimitExceeded):
        scan(data)


@pytest.mark.parametrize("piece", [1, 7, 1000])
def test_a_cut_text_beyond_the_limit_is_not_kept(piece: int) -> None:
    scanner = Scanner(WIDTH, HEIGHT, RGBX, Limits(cut_text=5))
    data = b"\3\0\0\0" + sized(bytes(100)) + b"\2" + b"\3\0\0\0" + struct.pack(">i", -100) + bytes(100)
    messages = []
    for start in range(0, len(data), piece):
        messages += scanner.receive(data[start : start + piece])
        assert scanner.pending <= 8 + max(5, piece)
    assert [message.kind for message in messages] == [3, 2, 3]
    assert len(messages[0].data) == 8 + 5


def test_zlib_data_is_found_whole() -> None:
    stream = zlib.compressobj()
    data = stream.compress(bytes(800)) + stream.flush(zlib.Z_SYNC_FLUSH)
    (message,) = scan(update(rect(6, sized(data))))
    (payload,) = message.payloads
    assert zlib.decompressobj().decompress(message.data[payload.start : payload.end]) == bytes(800)
