"""F40 on every driver: a server that never pauses is kept, one whose message drips is given up."""

from __future__ import annotations

import asyncio
import struct
import time

import pytest

from tests.support.rfb import Peer, raw, update
from vnc.errors import PeerLost
from vnc.session import Timeouts

DEADLINE = 0.5
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
        measure("deadlines outlived", (time.monotonic() - began) / DEADLINE, at_least=6)
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
    began = 0.0

    async def talk(peer: Peer) -> None:
        nonlocal began
        await peer.request()
        peer.update(raw(1))
        await peer.request()
        began = time.monotonic()
        await peer.drip(message, DEADLINE / 4)
        await peer.idle()

    async with opened.to(talk, QUICK) as (session, changes):
        await changes.until(lambda: session.error is not None)
        taken = time.monotonic() - began
        assert isinstance(session.error, PeerLost)
        assert f"message {message[0]} unfinished after {DEADLINE:g} s" in str(session.error)
        measure("T", taken, at_most=DEADLINE + 5, unit="s")
        assert taken > DEADLINE * 0.9
        await asyncio.sleep(0)
