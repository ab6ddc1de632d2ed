"""A peer on the same host that shares its frames, or reads them, and does not keep to the rules (F47)."""

from __future__ import annotations

import asyncio
import mmap
import os
import threading
import time
from collections.abc import AsyncIterator
from contextlib import suppress

import numpy as np
import pytest

from tests.support.drivers import needs_native
from tests.support.system.memory import Give, agree, driver, giving, memory, offer, path, release, shared
from tests.support.vnc.hostile_memory import UNUSABLE, VIOLATIONS
from tests.support.vnc.rfb import Peer, raw
from tests.support.vnc.sessions import taken
from tests.vnc.rfb_client import RFBClient
from tests.vnc.shared_client import SharedClient
from vnc.errors import ProtocolError
from vnc.server.server import ServerLimits, VNCServer

__all__ = ["driver", "memory", "path"]
STALL = 0.5


@pytest.fixture
async def sharing() -> AsyncIterator[VNCServer]:
    """Our server, 40x30, which waits half a second for clients that stall."""
    server = VNCServer(40, 30, limits=ServerLimits(stall=STALL))
    await server.start()
    yield server
    await server.close()


async def left(*clients: RFBClient) -> None:
    for client in clients:
        client.writer.close()
        with suppress(ConnectionError):
            await client.writer.wait_closed()


@needs_native
@pytest.mark.fault("F47", "a hostile peer of shared memory")
@pytest.mark.parametrize("answer", [answer for answer, _ in UNUSABLE.values()], ids=UNUSABLE)
async def test_f47_memory_that_is_not_usable_is_not_used(opened, measure, memory, path, caplog, answer: Give):
    caplog.set_level("INFO", "vnc.client.shared")
    refused = asyncio.Event()

    async def talk(peer: Peer) -> None:
        await peer.request()
        peer.update(offer(path), raw(1))
        await refused.wait()
        await peer.request()
        peer.update(raw(2))
        await peer.request()
        measure("messages of the client about the memory", len(peer.input), equals=0)
        await peer.idle()

    async with giving(path, memory, answer), opened.to(talk) as (session, changes):
        await changes.until(lambda: "pixels come by VNC" in caplog.text)
        refused.set()
        await changes.until(lambda: session.frames == 2)
        assert (taken(session) == 2).all()
        assert (session.error, session.pixels_by) == (None, "vnc")


@needs_native
@pytest.mark.fault("F47", "a hostile peer of shared memory")
@pytest.mark.parametrize("rects", [rects for rects, _ in VIOLATIONS.values()], ids=VIOLATIONS)
async def test_f47_wrong_numbers_end_the_session(opened, measure, memory, path, rects: list[bytes]):
    async def talk(peer: Peer) -> None:
        await agree(peer, path)
        peer.update(*rects)
        await peer.idle()

    async with giving(path, memory):
        before = _mappings()
        async with opened.to(talk) as (session, changes):
            await changes.until(lambda: session.error is not None)
            assert isinstance(session.error, ProtocolError)
            assert len(np.unique(taken(session))) == 1, "part of a broken update is shown"
        measure("memory still mapped", _mappings() - before, equals=0)


def _mappings() -> int:
    with open("/proc/self/maps") as maps:
        return sum("memfd:frames" in line for line in maps)


@needs_native
@pytest.mark.fault("F47", "a hostile peer of shared memory")
async def test_f47_writes_during_the_copy_spoil_pixels_and_nothing_else(opened, measure, memory, path):
    stop = threading.Event()

    def scribble() -> None:
        value = 0
        while not stop.is_set():
            value = (value + 1) % 256
            memory.frame(0)[:] = value

    async def talk(peer: Peer) -> None:
        await agree(peer, path)
        for _ in range(300):
            peer.update(shared(0))
            await peer.request()
            assert peer.input == release(0), "not released, or more than once"
            peer.input = b""
        await peer.idle()

    thread = threading.Thread(target=scribble)
    thread.start()
    try:
        async with giving(path, memory), opened.to(talk) as (session, changes):
            await changes.until(lambda: session.stats.rectangles >= 300)
            measure("frames until the session ended", session.frames, at_least=300)
            assert session.error is None
    finally:
        stop.set()
        thread.join()


@pytest.mark.fault("F47", "a hostile peer of shared memory")
async def test_f47_a_reader_that_never_lets_go_is_dropped_and_slows_nobody(measure, sharing: VNCServer):
    greedy, other = [await SharedClient.ready_on(sharing.port) for _ in range(2)]
    sharing.present(np.full((30, 40, 3), 1, np.uint8))
    began, frames = time.monotonic(), 0
    held = await greedy.held()
    ended = asyncio.create_task(greedy.vnc.ended())
    while not ended.done():
        frames += 1
        value = 2 + frames % 250
        sharing.present(np.full((30, 40, 3), value, np.uint8))
        number = await other.held()
        assert (other.frame(number) == value).all()
        assert (greedy.frame(held) == 1).all(), "written while it was held"
        other.release(number)
    assert await ended
    measure("dropped after", time.monotonic() - began, at_least=STALL * 0.9, unit="s")
    measure("frames of another reader meanwhile", frames, at_least=1)
    await left(greedy.vnc, other.vnc)


@pytest.mark.fault("F47", "a hostile peer of shared memory")
async def test_f47_a_reader_can_neither_write_nor_resize(measure, sharing: VNCServer):
    client = SharedClient(await RFBClient.connect(sharing.port))
    await client.offered()
    _, descriptor = await client.fetch()
    size = os.fstat(descriptor).st_size
    again = os.open(f"/proc/self/fd/{descriptor}", os.O_RDWR)
    done = 0
    for attempt in (
        lambda fd: mmap.mmap(fd, size),
        lambda fd: os.pwrite(fd, b"x", 100),
        lambda fd: os.ftruncate(fd, size - 1),
        lambda fd: os.ftruncate(fd, size + 1),
    ):
        for writable in (descriptor, again):
            with suppress(PermissionError):
                attempt(writable)
                done += 1
    measure("writes and changes of the size", done, equals=0)
    os.close(descriptor)
    os.close(again)
    await left(client.vnc)
