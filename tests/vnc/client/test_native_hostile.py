"""Data that has broken RFB clients, sent to the native driver: a typed error ends only that session."""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import numpy as np
import pytest

from tests.support.drivers import needs_native
from tests.support.vnc.rfb import Peer, header, listening, raw, update
from tests.support.vnc.sessions import Opener, taken
from vnc.encodings import (
    COPY_RECT,
    DESKTOP_SIZE,
    EXTENDED_DESKTOP_SIZE,
    HEXTILE,
    RAW,
    RRE,
    TIGHT,
    ZLIB,
    ZRLE,
)
from vnc.errors import LimitExceeded, ProtocolError
from vnc.session import Frame

pytestmark = needs_native

CURSOR = -239
MOST_GROWTH = 24 << 20
"""Bytes by which a hostile server may make this process grow: buffers and streams."""
JPEG = Path(__file__).parents[3] / "vnc" / "core" / "rfb" / "tests" / "vectors" / "jpeg" / "solid.jpg"


@pytest.fixture
def driver() -> str:
    return "native"


def rect(payload: bytes, encoding: int, x: int = 0, y: int = 0, width: int = 8, height: int = 6) -> bytes:
    return header(x, y, width, height, encoding) + payload


def deflated(data: bytes) -> bytes:
    stream = zlib.compressobj()
    return stream.compress(data) + stream.flush(zlib.Z_SYNC_FLUSH)


def sized(data: bytes) -> bytes:
    """With a length in front, as Zlib and ZRLE have it."""
    return struct.pack(">I", len(data)) + data


def compact(data: bytes) -> bytes:
    """With a length in front, as Tight has it."""
    length = len(data)
    return bytes([length & 127 | 128, length >> 7 & 127 | 128, length >> 14]) + data


def tile(data: bytes) -> bytes:
    return rect(sized(deflated(data)), ZRLE)


def tight(control: bytes, data: bytes, width: int = 8) -> bytes:
    return rect(control + compact(deflated(data)), TIGHT, width=width)


BOMB = zlib.compress(bytes(50_000_000), 9)[: 48 << 10]
PALETTE = b"\x50\x01\x02" + bytes(9)  # stream 1, palette filter, three colours
SUBRECT = struct.pack(">4s4H", b"abc\0", 7, 0, 2, 1)
RECTS: dict[str, tuple[bytes, int, int, str]] = {
    # name: rect, its encoding, offset, words
    **{
        f"encoding {encoding} beyond the right edge": (
            rect(b"", encoding, 7, 0, 2, 1), encoding, 0, "outside the 8x6 framebuffer"
        )
        for encoding in (RAW, COPY_RECT, RRE, HEXTILE, ZLIB, TIGHT, ZRLE)
    },
    "edges that overflow 16 bits": (rect(b"", RAW, 65535, 65535, 65535, 65535), RAW, 0, "outside the 8x6"),
    "below the bottom": (rect(b"", TIGHT, 0, 5, 1, 2), TIGHT, 0, "outside the 8x6"),
    "an encoding nobody asked for": (rect(b"", 99), 99, 0, "not requested"),
    "a subrect of RRE outside its rect": (
        rect(struct.pack(">I", 1) + bytes(4) + SUBRECT, RRE), RRE, 8, "subrect outside"
    ),
    "a subrect of Hextile outside its tile": (rect(b"\x08\x01\x10\x70", HEXTILE), HEXTILE, 2, "subrect outside"),
    "4294967295 subrects": (rect(b"\xff\xff\xff\xff", RRE), RRE, 8, "51539607540 bytes announced"),
    "a Zlib length of 4 GiB": (rect(b"\xff\xff\xff\xff", ZLIB), ZLIB, 4, "4294967295 bytes announced"),
    "a ZRLE length of 4 GiB": (rect(b"\xff\xff\xff\xff", ZRLE), ZRLE, 4, "4294967295 bytes announced"),
    "a Tight length of 4 MiB": (rect(b"\x90\xff\xff\xff", TIGHT), TIGHT, 4, "4194303 bytes announced"),
    "a palette index of Tight": (tight(PALETTE, bytes([0, 1, 2, 3] * 12)), TIGHT, 15, "index 3, palette has 3"),
    "a palette index of ZRLE": (tile(b"\x03" + bytes(9) + b"\xff\xff" * 6), ZRLE, 22, "index 3, palette has 3"),
    "an index of ZRLE's palette runs": (tile(b"\x82" + bytes(6) + b"\x02"), ZRLE, 8, "index 2, palette has 2"),
    **{
        f"ZRLE sub-encoding {code}": (tile(bytes([code]) + bytes(200)), ZRLE, 1, f"sub-encoding {code} does")
        for code in (17, 18, 64, 126, 127, 129)
    },
    "a run beyond its tile": (tile(b"\x80abc\x30"), ZRLE, 5, "run of 49 pixels, 48 left"),
    "a run of a palette beyond its tile": (tile(b"\x82" + bytes(6) + b"\x80\xff\x01"), ZRLE, 10, "run of 257"),
    "a Tight compression that is none": (rect(b"\xa0", TIGHT), TIGHT, 0, "compression type 10"),
    "a Tight filter that is none": (rect(b"\x40\x03", TIGHT), TIGHT, 1, "filter 3"),
    "too much Tight data": (tight(b"\x00", bytes(145)), TIGHT, 4, "after the last pixel"),
    "too little Tight data": (tight(b"\x00", bytes(143)), TIGHT, 4, "143 bytes of data, 144 needed"),
    "too much ZRLE data": (tile(b"\x01abcd"), ZRLE, 4, "after the last pixel"),
    "too little ZRLE data": (tile(b"\x01ab"), ZRLE, 1, "3 bytes of data"),
    "a Zlib bomb": (rect(sized(BOMB), ZLIB), ZLIB, 4, "after the last pixel"),
    "a ZRLE bomb": (rect(sized(BOMB), ZRLE), ZRLE, 145, "after the last pixel"),
    "a Tight bomb": (rect(b"\x00" + compact(BOMB), TIGHT), TIGHT, 4, "after the last pixel"),
    "no zlib stream": (rect(sized(b"abc"), ZRLE), ZRLE, 4, "broken zlib stream"),
    "a JPEG of another size": (rect(b"\x90" + compact(JPEG.read_bytes()), TIGHT), TIGHT, 4, "jpeg of 16x16"),
    "no JPEG": (rect(b"\x90\x03abc", TIGHT), TIGHT, 2, "broken jpeg"),
    "half a JPEG": (rect(b"\x90" + compact(JPEG.read_bytes()[:100]), TIGHT), TIGHT, 4, "broken jpeg"),
    "a copy from outside": (rect(b"\x00\x07\x00\x00", COPY_RECT, 0, 0, 2, 1), COPY_RECT, 0, "source 7,0 outside"),
    "a cursor of 257 pixels": (rect(b"", CURSOR, 0, 0, 257, 1), CURSOR, 0, "cursor of 257x1"),
    "a hotspot beyond its cursor": (rect(b"", CURSOR, 2, 0, 2, 1), CURSOR, 0, "hotspot 2,0 outside its cursor"),
    "a screen of 65535 pixels": (
        rect(b"", DESKTOP_SIZE, 0, 0, 65535, 65535), DESKTOP_SIZE, 0, "width of 65535, the limit is 4096"
    ),
    "a layout of 65535 pixels": (
        rect(b"\x01\0\0\0" + bytes(16), EXTENDED_DESKTOP_SIZE, 0, 0, 4, 65535), EXTENDED_DESKTOP_SIZE, 0,
        "height of 65535, the limit is 4096",
    ),
    "a screen of no pixels": (rect(b"", DESKTOP_SIZE, 0, 0, 0, 6), DESKTOP_SIZE, 0, "framebuffer of 0x6 pixels"),
}  # fmt: skip

OTHERS: dict[str, tuple[bytes, type[ProtocolError], str]] = {
    "a rect for the size before": (
        update(rect(b"", DESKTOP_SIZE, 0, 0, 4, 4), raw(1)), ProtocolError,
        r"rect 1 \(0, 0, 8x6, encoding 0\), offset 0: .*outside the 4x4",
    ),
    "rects without end": (
        struct.pack(">BxH", 0, 0xFFFF) + rect(b"", RAW, 0, 0, 8, 0) * 65536, LimitExceeded,
        r"rect 65535 \(0, 0, 8x0, encoding 0\), offset 0: rects in one update of 65536, the limit is 65535",
    ),
    "a LastRect that never comes": (
        struct.pack(">BxH", 0, 0xFFFF) + raw(1) * 6000, LimitExceeded, "bytes of one update"
    ),
    "a fence of 65 bytes": (b"\xf8" + bytes(7) + b"\x41", LimitExceeded, "fence payload of 65"),
    "a message that is none": (b"\xc8", ProtocolError, "message type 200"),
}  # fmt: skip


@asynccontextmanager
async def witnesses(opened: Opener) -> AsyncIterator[None]:
    """A session on each of the pump's threads, at least, which afterwards still works."""

    async def honest(peer: Peer) -> None:
        await peer.open()
        value = 0
        while True:
            await peer.request()
            value = value % 250 + 1
            peer.update(raw(value))

    async with listening(honest) as port, opened.on(port) as one, opened.on(port) as two:
        yield
        for session, changes in (one, two):
            frames = session.frames
            await changes.until(lambda session=session, frames=frames: session.frames >= frames + 3)
            assert session.error is None
            assert len(set(taken(session).ravel())) == 1


@pytest.mark.parametrize("name", RECTS)
async def test_a_hostile_rect_is_named_and_nobody_else_notices(opened, name):
    data, encoding, offset, words = RECTS[name]
    x, y, width, height = struct.unpack_from(">4H", data)
    async with witnesses(opened):
        first = await opened.error_after(update(data))
    second = await opened.error_after(update(raw(1, width=1), data))
    for number, error in enumerate((first, second)):
        kind = LimitExceeded if re.search("announced|limit|cursor of", words) else ProtocolError
        assert type(error) is kind
        place = f"rect {number} ({x}, {y}, {width}x{height}, encoding {encoding}), offset {offset}: "
        assert re.search(re.escape(place) + ".*" + re.escape(words), str(error)), error


@pytest.mark.parametrize("name", OTHERS)
async def test_a_hostile_message_ends_its_session_and_no_other(opened, name):
    data, kind, words = OTHERS[name]
    async with witnesses(opened):
        error = await opened.error_after(data)
    assert type(error) is kind
    assert re.search(words, str(error)), error


def peak() -> int:
    """Return the peak memory of this process in bytes since `forget_peak`."""
    status = Path("/proc/self/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) << 10


def forget_peak() -> None:
    Path("/proc/self/clear_refs").write_text("5")


async def test_nothing_is_allocated_for_what_is_announced(opened):
    attacks = [update(data) for data, *_ in RECTS.values()]
    attacks += [data for name, (data, *_) in OTHERS.items()]
    await opened.error_after(attacks[0])
    forget_peak()
    before = peak()
    for data in attacks:
        await opened.error_after(data)
    assert peak() - before < MOST_GROWTH


async def test_the_measure_of_memory_sees_an_allocation():
    forget_peak()
    before = peak()
    assert bytearray(b"x") * (2 * MOST_GROWTH)
    assert peak() - before > MOST_GROWTH


async def test_a_stream_is_not_used_again_after_an_error(opened):
    good = update(tight(b"\x00", bytes([7]) * 144))

    async def talk(peer: Peer) -> None:
        await peer.request()
        peer.write(good + update(tight(b"\x01", bytes(10))) + good)
        await peer.idle()

    async with opened.to(talk) as (session, changes):
        await changes.until(lambda: session.error is not None)
        assert (session.frames, session.stats.rectangles) == (1, 1)


@pytest.mark.parametrize("number", range(4))
async def test_each_tight_stream_goes_on_and_starts_anew_where_its_bit_says(opened, number):
    """Four streams, one of which is reset in the middle; another one's bit is not its own."""
    streams = [zlib.compressobj() for _ in range(4)]

    def grey(value: int, stream: int, reset: int = 0) -> bytes:
        data = streams[stream].compress(bytes([value]) * 144) + streams[stream].flush(zlib.Z_SYNC_FLUSH)
        return update(rect(bytes([stream << 4 | reset]) + compact(data), TIGHT))

    updates = [grey(1 + stream, stream) for stream in range(4)]
    streams[number] = zlib.compressobj()
    updates.append(grey(5, (number + 1) % 4, 1 << number))
    updates += [grey(6 + stream, stream) for stream in range(4)]
    assert (await shown(opened, updates) == 9).all()


@pytest.mark.parametrize("encoding", [ZLIB, ZRLE])
async def test_the_stream_of_zlib_and_of_zrle_lasts_as_long_as_the_connection(opened, encoding):
    stream = zlib.compressobj()

    def grey(value: int) -> bytes:
        pixels = bytes([value, value, value, 0]) * 48 if encoding == ZLIB else b"\x01" + bytes([value]) * 3
        return update(rect(sized(stream.compress(pixels) + stream.flush(zlib.Z_SYNC_FLUSH)), encoding))

    assert (await shown(opened, [grey(value) for value in range(1, 6)]) == 5).all()


async def shown(opened: Opener, updates: list[bytes]) -> Frame:
    """Return the frame of a session after each of these messages has answered a request."""

    async def talk(peer: Peer) -> None:
        for data in updates:
            await peer.request()
            peer.write(data)
        await peer.idle()

    async with opened.to(talk) as (session, changes):
        await changes.until(lambda: session.error is not None or session.frames == len(updates))
        assert session.error is None
        return taken(session)


@pytest.mark.parametrize(("dx", "dy"), [(0, 1), (0, -1), (1, 0), (-1, 0), (2, 1), (-1, -2)])
async def test_a_copy_may_overlap_itself(opened, dx, dy):
    before = np.arange(48, dtype=np.uint8).reshape(6, 8)
    pixels = [raw(int(value), x, y, 1, 1) for (y, x), value in np.ndenumerate(before)]
    width, height = 8 - abs(dx), 6 - abs(dy)
    x, y = max(-dx, 0), max(-dy, 0)  # of the source
    copied = before.copy()
    copied[y + dy : y + dy + height, x + dx : x + dx + width] = before[y : y + height, x : x + width]
    copy = rect(struct.pack(">HH", x, y), COPY_RECT, x + dx, y + dy, width, height)
    assert (await shown(opened, [update(*pixels, copy)]) == copied[:, :, None]).all()
