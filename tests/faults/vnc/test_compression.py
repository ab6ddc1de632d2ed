"""Compressed data that inflates to as much as possible (F41)."""

from __future__ import annotations

import asyncio
import gc
import struct
import zlib
from pathlib import Path

import pytest

from tests.support.vnc.rfb import Peer, header, listening, update
from tests.support.vnc.sessions import Opener
from vnc import drivers
from vnc.encodings import TIGHT, ZLIB, ZRLE

SIDE = 4096
PIXELS = SIDE * SIDE
SCREEN = {"native": 3 * PIXELS, "portable": (3 + 4) * PIXELS}
"""Bytes of a driver's screen: the portable driver has asyncvnc's, RGBA, and one of whole frames."""
MIB = 1 << 20


def zeros(count: int) -> bytes:
    """Return this number of zeros, deflated."""
    stream = zlib.compressobj(9)
    piece = bytes(MIB)
    data = [stream.compress(piece[: min(MIB, count - start)]) for start in range(0, count, MIB)]
    return b"".join(data) + stream.flush(zlib.Z_SYNC_FLUSH)


def tight(stream: int) -> bytes:
    data = zeros(3 * PIXELS)
    length = bytes([len(data) & 0x7F | 0x80, len(data) >> 7 & 0x7F | 0x80, len(data) >> 14])
    return header(0, 0, SIDE, SIDE, TIGHT) + bytes([stream << 4]) + length + data


def announced(encoding: int, data: bytes) -> bytes:
    return header(0, 0, SIDE, SIDE, encoding) + struct.pack(">I", len(data)) + data


def everything(driver: str) -> bytes:
    """Yield an update for each of the driver's zlib streams, which inflates to a whole screen."""
    rects = [announced(ZLIB, zeros(4 * PIXELS))]
    if driver == "native":
        rects += [tight(stream) for stream in range(4)]
        rects.append(announced(ZRLE, zeros((SIDE // 64) ** 2 * (1 + 64 * 64 * 3))))
    return update(*rects)


def resident() -> int:
    """Return the resident memory of this process in bytes."""
    gc.collect()
    (line,) = (
        line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmRSS")
    )
    return int(line.split()[1]) * 1024


@pytest.mark.fault("F41", "hostile compression")
async def test_f41_full_streams_hold_little_and_give_it_back(driver: str, measure) -> None:
    data, bad = everything(driver), asyncio.Event()

    async def serve(peer: Peer) -> None:
        await peer.open(SIDE, SIDE)
        await peer.request()
        peer.write(data)
        await bad.wait()
        peer.write(b"c")
        await peer.idle()

    opened = Opener(drivers.connect(driver))
    before = resident()
    async with listening(serve) as port, opened.on(port) as (session, changes):
        await changes.until(lambda: session.frames == 1 or session.error is not None, 60)
        assert session.error is None
        held = resident() - before - SCREEN[driver]
        measure("memory beyond the screen", round(held / MIB, 1), at_most=16, unit="MiB")
        bad.set()
        await changes.until(lambda: session.error is not None)
        held = resident() - before - SCREEN[driver]
        measure("memory after the fatal error", round(held / MIB, 1), at_most=8, unit="MiB")
