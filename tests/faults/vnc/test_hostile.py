"""Servers that break RFB during a session, on every driver: the session ends with a typed error (F13, F15)."""

from __future__ import annotations

import re
import struct
import zlib

import numpy as np
import pytest

from tests.chaos.gauges import Gauges
from tests.support.vnc.rfb import QUICK, Peer, header, raw, update
from tests.support.vnc.sessions import taken
from vnc.errors import LimitExceeded, PeerLost, ProtocolError
from vnc.session import Limits

OUTSIDE = "rect outside the 8x6 framebuffer"
ZLIB_RECT = "rect 0 (0, 0, 8x6, encoding 6), offset 4: "
BOMB = zlib.compress(bytes(60_000_000), 9)[: 64 * 1024]


def zlib_rect(data: bytes, length: int | None = None) -> bytes:
    """Return an update of one Zlib rect of the whole screen that announces `length` bytes."""
    return update(header(0, 0, 8, 6, 6) + struct.pack(">I", len(data) if length is None else length) + data)


@pytest.mark.fault("F15", "huge lengths")
@pytest.mark.parametrize(
    ("data", "kind", "words"),
    [
        (update(header(7, 0, 2, 1)), ProtocolError, "rect 0 (7, 0, 2x1, encoding 0), offset 0: " + OUTSIDE),
        (
            update(header(0, 0, 65535, 65535)),
            ProtocolError, "rect 0 (0, 0, 65535x65535, encoding 0), offset 0: " + OUTSIDE,
        ),
        (
            update(header(65535, 65535, 65535, 65535)),
            ProtocolError, "rect 0 (65535, 65535, 65535x65535, encoding 0), offset 0: " + OUTSIDE,
        ),
        (update(header(0, 6, 1, 1)), ProtocolError, "rect 0 (0, 6, 1x1, encoding 0), offset 0: " + OUTSIDE),
        (
            update(raw(1), header(0, 0, 1, 7)),
            ProtocolError, "rect 1 (0, 0, 1x7, encoding 0), offset 0: " + OUTSIDE,
        ),
        (
            update(header(0, 0, 8, 6, 99)),
            ProtocolError, "rect 0 (0, 0, 8x6, encoding 99), offset 0: encoding was not requested",
        ),
        (
            zlib_rect(b"", 0xFFFFFFFF),
            LimitExceeded, ZLIB_RECT + "4294967295 bytes announced, the limit is 65920",
        ),
        (zlib_rect(b"abc"), ProtocolError, ZLIB_RECT + "broken zlib stream"),
        (zlib_rect(zlib.compress(bytes(100))), ProtocolError, ZLIB_RECT + "100 bytes of data, 192 needed"),
        (
            zlib_rect(zlib.compress(bytes(193))),
            ProtocolError, ZLIB_RECT + "data after the last pixel",
        ),
        (zlib_rect(BOMB), ProtocolError, ZLIB_RECT + "data after the last pixel"),
        (
            struct.pack(">Bxxxi", 3, -1),
            ProtocolError, "cut text of length -1: the extended clipboard was not requested",
        ),
        (
            struct.pack(">Bxxxi", 3, -(2**31)),
            ProtocolError, "cut text of length -2147483648: the extended clipboard was not requested",
        ),
        (b"\x63", ProtocolError, "message type 99 does not exist"),
        (b"\x04", ProtocolError, "message type 4 does not exist"),
    ],
)  # fmt: skip
async def test_hostile_messages_end_the_session_with_a_typed_error(opened, measure, data, kind, words):
    """Each driver reports the same place and the same error."""
    before = Gauges.read().memory
    error = await opened.error_after(data)
    measure("memory", (Gauges.read().memory - before) / 2**20, at_most=16, unit="MiB")
    assert type(error) is kind
    assert str(error).partition(": ")[2] == words


async def test_a_cut_text_beyond_the_limit_is_skipped_and_counted(opened):
    async def talk(peer: Peer) -> None:
        await peer.request()
        for length in (100, 101, 300_000):
            peer.write(struct.pack(">BxxxI", 3, length) + bytes(length))
        peer.update(raw(7))
        await peer.idle()

    async with opened.to(talk, limits=Limits(cut_text=100)) as (session, changes):
        await changes.until(lambda: session.frames == 1)
        assert session.stats.long_cut_texts == 2
        assert (taken(session) == 7).all()


@pytest.mark.fault("F13", "one flipped byte in stream")
@pytest.mark.parametrize("seed", range(30))
async def test_a_flipped_byte_never_crashes_or_hangs(opened, measure, seed):
    rng = np.random.default_rng(seed)
    stream = bytearray(update(raw(1, 0, 0, 4, 6), raw(2, 4, 0, 4, 6)) + b"\x02" + update(raw(3)))
    stream[rng.integers(len(stream))] ^= 1 << int(rng.integers(8))

    async def talk(peer: Peer) -> None:
        await peer.request()
        peer.write(bytes(stream))
        peer.writer.write_eof()
        await peer.idle()

    async with opened.to(talk, QUICK) as (session, changes):
        await changes.until(lambda: session.error is not None)
        assert isinstance(session.error, ProtocolError | PeerLost)
        crashed = re.search("driver failed|panicked", str(session.error))
        measure("crashes over a socket", int(crashed is not None), equals=0)


async def test_one_hostile_server_does_not_disturb_the_others(opened):
    async def hostile(peer: Peer) -> None:
        peer.write(b"c")
        await peer.idle()

    async def honest(peer: Peer) -> None:
        for value in range(1, 21):
            await peer.request()
            peer.update(raw(value))
        await peer.idle()

    async with opened.to(honest) as (good, good_changes), opened.to(hostile) as (bad, bad_changes):
        await bad_changes.until(lambda: bad.error is not None)
        await good_changes.until(lambda: good.frames == 20)
        assert good.error is None
        assert (taken(good) == 20).all()


async def test_a_colour_map_that_overflows_its_numbers_is_read_over(opened):
    async def talk(peer: Peer) -> None:
        await peer.request()
        peer.write(struct.pack(">BxHH", 1, 65535, 65535) + bytes(6 * 65535))
        peer.update(raw(3))
        await peer.idle()

    async with opened.to(talk) as (session, changes):
        await changes.until(lambda: session.frames == 1)
        assert (taken(session) == 3).all()
