"""Input, liveness and the end of a session, on every driver."""

from __future__ import annotations

import asyncio
import threading
import time

import numpy as np
import pytest

from tests.support.system.scarcity import in_use
from tests.support.vnc.rfb import QUICK, Peer, header, raw, update
from tests.support.vnc.sessions import Changes, taken
from tests.support.vnc.xvnc import logo
from vnc.encodings import preference
from vnc.errors import PeerLost
from vnc.events import KeyEvent, PointerEvent, encode
from vnc.server.server import VNCServer
from vnc.session import Limits, Timeouts

EVENTS = [KeyEvent(0xFF51, True), PointerEvent(3, 4, 1), KeyEvent(0xFF51, False)]


# -- input


async def test_input_reaches_our_server_in_order(opened):
    received: list[object] = []
    arrived = asyncio.Event()

    def on_events(events: object) -> None:
        received.extend(events)
        if len(received) >= len(EVENTS):
            arrived.set()

    server = VNCServer(10, 10, on_events=on_events)
    await server.start()
    async with opened.on(server.port) as (session, _):
        session.send(EVENTS[:2])
        session.send(EVENTS[2:])
        await asyncio.wait_for(arrived.wait(), 60)
        assert received == EVENTS
    await server.close()


async def test_input_from_any_thread_reaches_the_server_in_one_piece(opened):
    received = asyncio.get_running_loop().create_future()

    async def talk(peer: Peer) -> None:
        await peer.request()
        received.set_result(await peer.read(20 * len(encode(EVENTS))))
        await peer.idle()

    async with opened.to(talk) as (session, _):
        threads = [threading.Thread(target=session.send, args=(EVENTS,)) for _ in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert await asyncio.wait_for(received, 60) == encode(EVENTS) * 20
    session.send(EVENTS)  # over: no effect


async def test_what_the_wire_carries_for_events(opened):
    received = asyncio.get_running_loop().create_future()
    events = [KeyEvent(0x20AC, True), PointerEvent(1, 2, 3)]

    async def talk(peer: Peer) -> None:
        await peer.request()
        peer.update(raw(0))
        while (await peer.request()).incremental:
            pass
        received.set_result(peer.input)

    async with opened.to(talk) as (session, _):
        session.send(events)
        session.send([])
        session.refresh()
        assert await asyncio.wait_for(received, 60) == encode(events)


async def test_a_server_that_does_not_read_is_lost_and_nobody_waits(opened):
    """F29."""

    async def talk(peer: Peer) -> None:
        peer.writer.transport.pause_reading()
        await asyncio.Event().wait()

    async with opened.to(talk, limits=Limits(outgoing=64 * 1024)) as (session, changes):

        def flood() -> bool:
            session.send([KeyEvent(97, True)] * 65536)
            return session.error is not None

        await changes.until(flood)
        assert isinstance(session.error, PeerLost)
        assert "does not read" in str(session.error)
        await changes.until(lambda: changes.count > 0)


# -- liveness


async def test_silence_is_answered_by_a_probe_and_a_live_server_is_kept(opened):
    async def talk(peer: Peer) -> None:
        await peer.request()
        peer.update(raw(1))
        assert (await peer.request()).incremental
        for _ in range(3):
            probe = await peer.request()
            while probe.incremental:
                probe = await peer.request()
            assert (probe.width, probe.height) == (1, 1)
            peer.update(raw(1, 0, 0, 1, 1))
        await peer.idle()

    async with opened.to(talk, Timeouts(probe_interval=0.05, probe_deadline=10.0)) as (session, changes):
        await changes.until(lambda: session.frames == 4)
        assert session.error is None


async def test_a_server_that_answers_no_probe_is_lost(opened):
    probed = asyncio.Event()

    async def talk(peer: Peer) -> None:
        await peer.request()
        peer.update(raw(1))
        await peer.request()
        probe = await peer.request()
        assert (probe.incremental, probe.width, probe.height) == (False, 1, 1)
        probed.set()
        await peer.idle()

    async with opened.to(talk, QUICK) as (session, changes):
        await changes.until(lambda: session.error is not None)
        await asyncio.wait_for(probed.wait(), 60)
        assert isinstance(session.error, PeerLost)
        assert "no answer to a probe within 0.2 s" in str(session.error)


async def test_an_update_that_does_not_end_is_lost(opened):
    """F10: the deadline is the whole update's, however the bytes drip."""

    async def talk(peer: Peer) -> None:
        await peer.request()
        peer.write(update(header(0, 0, 8, 6)))
        await peer.drip(bytes(190), 0.1)

    began = time.monotonic()
    timeouts = Timeouts(update=0.5, probe_interval=0.3, probe_deadline=0.3)
    async with opened.to(talk, timeouts) as (session, changes):
        await changes.until(lambda: session.error is not None)
        assert isinstance(session.error, PeerLost)
        assert "0.5 s" in str(session.error)
        assert time.monotonic() - began > 0.45


async def test_the_rest_of_an_update_that_never_comes_is_lost(opened):
    async def talk(peer: Peer) -> None:
        await peer.request()
        peer.write(update(raw(1))[:-1])
        await peer.idle()

    async with opened.to(talk, timeouts=Timeouts(update=0.2)) as (session, changes):
        await changes.until(lambda: session.error is not None)
        assert isinstance(session.error, PeerLost)
        assert "0.2 s" in str(session.error)
        assert (taken(session) == 0).all()


# -- the end


async def test_the_end_of_the_connection_is_seen_and_told_once(opened):
    async def talk(peer: Peer) -> None:
        await peer.request()

    async with opened.to(talk) as (session, changes):
        await changes.until(lambda: session.error is not None)
        assert isinstance(session.error, PeerLost)
        assert "closed" in str(session.error)
        assert str(session.error).startswith(str(session.address))
        await changes.until(lambda: changes.count == 1)


async def test_close_is_idempotent_and_the_server_sees_it(opened, server):
    async with opened.on(server.port, "pass wor") as (session, changes):
        await session.close()
        await session.close()
        assert isinstance(session.error, PeerLost)
        assert "closed by us" in str(session.error)
        await changes.until(lambda: server.clients == 0)


async def test_nothing_is_left_behind(opened):
    async def talk(peer: Peer) -> None:
        await peer.request()
        peer.update(raw(1))
        await peer.idle()

    async def live() -> None:
        async with opened.to(talk) as (session, changes):
            await changes.until(lambda: session.frames == 1)

    await live()
    descriptors, threads = in_use()
    for _ in range(30):
        await live()
    await Changes().until(lambda: in_use()[0] <= descriptors)
    assert in_use()[1] <= threads


# -- real Xvnc


@pytest.mark.parametrize("probe_interval", [30.0, 0.05], ids=["left alone", "probed"])
async def test_real_xvnc_is_seen_whole_and_answers_refreshes(opened, xvnc, probe_interval):
    port, _ = xvnc
    timeouts = Timeouts(probe_interval=probe_interval, probe_deadline=10.0)
    async with opened.on(port, timeouts=timeouts) as (session, changes):
        assert session.shape == (200, 320, 3)
        for _ in range(5):
            wanted = session.refresh()
            await changes.until(lambda wanted=wanted: session.generation >= wanted)
        assert session.stats.pixels >= 320 * 200
        assert session.error is None


async def test_idle_xvnc_is_silent_and_not_lost(opened, xvnc):
    port, _ = xvnc
    async with opened.on(port, timeouts=Timeouts(probe_interval=0.05, probe_deadline=10.0)) as (
        session,
        changes,
    ):
        seen = session.frames
        await changes.until(lambda: session.frames >= seen + 4)  # only probes make an idle screen speak
        assert session.error is None


async def test_xvnc_on_this_host_sends_raw(opened, xvnc):
    port, display = xvnc
    encodings = preference("auto", None, "127.0.0.1")
    async with opened.on(port, encodings=encodings) as (session, changes), logo(display):
        await changes.until(lambda: len(np.unique(taken(session))) > 1)
        assert session.stats.bytes >= 3 * session.stats.pixels
