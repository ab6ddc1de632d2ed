"""Server data in odd pieces (F11), or with one byte changed (F13).

Real servers sent the streams: tests/vectors.
"""

from __future__ import annotations

import hashlib
import random
import re
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from tests.support.vnc.rfb import Peer, listening
from tests.support.vnc.sessions import taken
from vnc import _core
from vnc.capture.capture import Capture, read_capture
from vnc.pixels.pixel_format import RGBX
from vnc.security_types import VENCRYPT, X509_NONE
from vnc.session import Frame, Limits, Timeouts

VECTORS = Path(__file__).parents[2] / "vectors"
SEEDS = 10_000
SLOWEST = 2.0
"""Processor seconds that one broken stream may take; it is decoded in about a millisecond."""
PATIENT = Timeouts(update=300.0, probe_interval=300.0)
"""For a stream in single bytes, and a server that does not answer probes."""
ENCODINGS = [7, 16, 6, 5, 2, 1, 0, -224, -223, -308, -239]


def read(name: str) -> Capture:
    return read_capture(VECTORS / f"{name}.capture")


def stream(capture: Capture) -> bytes:
    return b"".join(message.data for message in capture.messages)


@pytest.mark.fault("F11", "byte-at-a-time and giant reads")
@pytest.mark.parametrize("name", ["x11vnc-zlib", "ours-raw"])
async def test_f11_a_stream_shows_the_same_in_pieces_of_any_size(opened, measure, name):
    capture = read(name)
    data, updates = stream(capture), len(capture.updates)
    shown: dict[int, str] = {}
    for size in (1, 2, 7, 1448, 65_536):

        async def talk(peer: Peer, size: int = size) -> None:
            await peer.open(capture.header.width, capture.header.height)
            for start in range(0, len(data), size):
                peer.write(data[start : start + size])
                await peer.writer.drain()
            await peer.idle()

        async with listening(talk) as port, opened.on(port, timeouts=PATIENT) as (session, changes):
            await changes.until(
                lambda session=session: session.error is not None or session.frames >= updates, 120
            )
            assert session.error is None
            shown[size] = hashlib.sha256(taken(session)).hexdigest()
    measure("different screens for 5 sizes of pieces", len(set(shown.values())), equals=1)


@dataclass
class Figures:
    """The results of the broken streams."""

    refused: int = 0
    panics: int = 0
    changed: int = 0
    longest: float = 0.0


@pytest.mark.fault("F13", "one flipped byte in stream")
def test_f13_ten_thousand_flipped_bytes_break_nothing(measure):
    """The core alone, without sockets: every stream ends in a typed error or a picture, and quickly."""
    figures = Figures()
    captures = [read_capture(path) for path in sorted(VECTORS.glob("*.capture"))]
    streams = [(capture, stream(capture)) for capture in captures if capture.pixel_format == RGBX]
    with core() as pump:
        whole = [played(pump, *each, Figures()) for each in streams]
        for seed in range(SEEDS):
            number = seed % len(streams)
            capture, data = streams[number]
            shown = played(pump, capture, flipped(data, seed), figures)
            figures.changed += shown is not None and not np.array_equal(shown, whole[number])
    measure("seeds", SEEDS, at_least=10_000)
    measure("panics", figures.panics, equals=0)
    measure("streams refused", figures.refused, at_least=SEEDS // 100)
    measure("streams with other pixels", figures.changed, at_least=SEEDS // 100)
    measure("longest decode", figures.longest, at_most=SLOWEST, unit="s")


def flipped(data: bytes, seed: int) -> bytes:
    numbers = random.Random(seed)
    broken = bytearray(data)
    broken[numbers.randrange(len(broken))] ^= numbers.randrange(1, 256)
    return bytes(broken)


def played(pump: _core.Pump, capture: Capture, data: bytes, figures: Figures) -> Frame | None:
    """Return the pixels of a session after `data`; None if it raised an error."""
    session = established(pump, capture)
    began = time.process_time()
    try:
        session.receive(data)
    except BaseException as error:  # what PyO3 makes of a panic is no Exception
        if type(error).__name__ != "PanicException":
            raise
        figures.panics += 1
        return None
    finally:
        figures.longest = max(figures.longest, time.process_time() - began)
    if session.error is not None:
        kind, words = session.error
        figures.refused += 1
        figures.panics += bool(re.search("driver failed|panicked", words))
        assert kind in ("protocol", "limit"), (kind, words)
        return None
    out = np.zeros(session.shape, np.uint8)
    session.take(out)
    session.close()
    return out


@contextmanager
def core() -> Iterator[_core.Pump]:
    pump = _core.Pump(1)
    try:
        yield pump
    finally:
        pump.close()


def established(pump: _core.Pump, capture: Capture) -> _core.Session:
    """A session that receives its bytes from the test, as if they came through TLS."""
    limits, timeouts = Limits(), Timeouts()
    session = pump.feed(
        False,
        None,
        None,
        ENCODINGS,
        (4096, 4096, limits.text, limits.cut_text, limits.outgoing),
        (timeouts.connect, timeouts.handshake, timeouts.update, 3600.0, 3600.0),
    )
    session.receive(
        b"RFB 003.008\n" + bytes([1, VENCRYPT, 0, 2, 0, 1]) + struct.pack(">I", X509_NONE) + b"\1"
    )
    session.secured()
    header = capture.header
    size = struct.pack(">HH", header.width, header.height)
    session.receive(bytes(4) + size + RGBX.encode() + bytes(4))
    assert session.ready
    return session
