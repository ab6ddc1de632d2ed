"""A server that never pauses stays connected; a message that arrives too slowly ends the session (F40)."""

from __future__ import annotations

import asyncio
import gc
import struct
import time

import numpy as np
import pytest

from tests.support.timing import Stopwatch
from tests.support.vnc.rfb import Peer, raw, update
from vnc.errors import PeerLost
from vnc.session import Timeouts

DEADLINE = 1.0
STANDSTILL = 0.05
QUICK = Timeouts(update=DEADLINE, probe_interval=30.0)


@pytest.mark.fault("F40", "a server that never pauses")
async def test_f40_updates_back_to_back_are_not_one_late_update(opened, measure):
    """Every piece ends inside an update, and the next piece is sent when it has been read."""

    async def talk(peer: Peer) -> None:
        await peer.request()
        value, rest = 0, b""
        while True:
            value += 1
            data = update(raw(value % 256))
            peer.write(rest + data[: len(data) // 2])
            rest = data[len(data) // 2 :]
            if value > 1:
                await peer.request()

    async with opened.to(talk, QUICK) as (session, changes):
        began = time.monotonic()
        await changes.until(lambda: time.monotonic() - began > 6 * DEADLINE or session.error is not None)
        assert session.error is None
        measure("lifetime in deadlines", (time.monotonic() - began) / DEADLINE, at_least=6)
        measure("frames", session.frames, at_least=10)


@pytest.mark.fault("F40", "a server that never pauses")
@pytest.mark.parametrize(
    "message",
    [
        struct.pack(">BxxxI", 3, 4000) + bytes(4000),
        struct.pack(">BxHH", 1, 0, 600) + bytes(3600),
        struct.pack(">BxxxI", 3, 4000)[:7],
        update(raw(1)),
    ],
    ids=["cut text", "colour map", "header", "update"],
)
async def test_f40_a_message_that_drips_is_given_up_at_its_deadline(opened, measure, message):
    watch = Stopwatch()

    async def talk(peer: Peer) -> None:
        nonlocal watch
        await peer.request()
        peer.update(raw(1))
        await peer.request()
        watch = Stopwatch()
        await peer.drip(message, DEADLINE / 4)
        await peer.idle()

    async with opened.to(talk, QUICK) as (session, changes):
        await changes.until(lambda: session.error is not None)
        taken, seconds = watch.elapsed, watch.seconds
        assert isinstance(session.error, PeerLost)
        assert f"message {message[0]} unfinished after {DEADLINE:g} s" in str(session.error)
        measure("time to the error", seconds, at_most=DEADLINE + 5, unit="s")
        assert taken > DEADLINE * 0.9
        await asyncio.sleep(0)


class Standstill:
    """Measures the longest processor time of one callback of an event loop."""

    def __init__(self) -> None:
        self.longest = 0.0
        gc.freeze()  # no garbage collection of earlier tests' objects during the measurement
        self._last = time.thread_time()
        self._loop = asyncio.get_running_loop()
        self._turn = self._loop.call_soon(self._tick)

    def _tick(self) -> None:
        now = time.thread_time()
        self.longest, self._last = max(self.longest, now - self._last), now
        self._turn = self._loop.call_soon(self._tick)

    def stop(self) -> float:
        self._turn.cancel()
        gc.unfreeze()
        return self.longest


@pytest.mark.fault("F40", "a server that never pauses")
@pytest.mark.parametrize(
    ("message", "count"),
    [
        (b"\2", 10_500_000),
        (struct.pack(">BxxxI", 3, 0), 100_000),
        (update(*[raw(3, x=1, y=1, width=1, height=1)] * 20_000), 3),
    ],
    ids=["Bells", "cut texts", "rects of a pixel"],
)
async def test_f40_a_talkative_server_leaves_the_event_loop_to_others(opened, measure, message, count):
    """The data is one block of bytes, followed by a frame."""
    data = message * count + update(raw(2))

    async def talk(peer: Peer) -> None:
        await peer.request()
        for at in range(0, len(data), 1 << 16):
            peer.write(data[at : at + (1 << 16)])
            await peer.writer.drain()
        await peer.idle()

    async with opened.to(talk, Timeouts(probe_interval=60.0)) as (session, changes):
        standstill = Standstill()
        shown = np.empty(session.shape, np.uint8)

        def is_through() -> bool:
            if session.frames:
                session.take(shown)
            return bool(session.error or (shown == 2).all())

        await changes.until(is_through, 120)
        assert session.error is None
        measure("longest block of the event loop", standstill.stop(), at_most=STANDSTILL, unit="s")
