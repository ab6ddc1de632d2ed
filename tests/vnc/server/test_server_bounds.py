"""Bounds on what a client costs the server and the other clients: buffers and CPU time."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import AsyncIterator, Callable

import numpy as np
import pytest

from tests.vnc.rfb_client import RFBClient
from tests.vnc.server.test_server import Inbox
from tests.vnc.server.test_server import clients as clients
from tests.vnc.server.test_server import serve as serve
from vnc.events import KeyEvent, encode
from vnc.server.server import ServerLimits, VNCServer
from vnc.tls import TLS

COLOUR_MAP = struct.pack(">BBBBHHHBBB3x", 8, 8, 0, 0, 0, 0, 0, 0, 0, 0)
SMALL = 64
UPDATE = 4 + 12 + SMALL * SMALL * 4
"""Bytes of a small screen, raw."""


@pytest.fixture
async def secure(identity) -> AsyncIterator[VNCServer]:
    server = VNCServer(SMALL, SMALL, password="drive")
    await server.start(tls=identity.context())
    yield server
    await server.close()


async def fill(server: VNCServer, ask: Callable[[], object], seen: Callable[[], object]) -> None:
    """Present frames until bytes for the one client remain in the send buffer."""
    (connection,) = server._desktop.connections
    rng = np.random.default_rng(3)
    async with asyncio.timeout(60):
        while connection._writable:
            ask()
            await asyncio.sleep(0)
            server.present(rng.integers(0, 256, (SMALL, SMALL, 3), np.uint8))
            seen()


def waiting(server: VNCServer) -> int:
    (connection,) = server._desktop.connections
    return connection._transport.get_write_buffer_size()


async def test_of_small_updates_no_more_than_one_waits(serve, clients) -> None:
    """With asyncio's default buffer limits, four outdated frames would wait."""
    server = await serve(SMALL, SMALL)
    clients.append(client := await RFBClient.connect(server.port))
    client.writer.transport.pause_reading()
    most = 0

    def seen() -> None:
        nonlocal most
        most = max(most, waiting(server))

    await fill(server, lambda: client.request(True), seen)
    assert 0 < most <= UPDATE


async def test_over_tls_no_more_than_one_small_update_waits_either(secure, opened, authority) -> None:
    async with opened.on(secure.port, "drive", tls=TLS(ca_file=authority.certificate)) as (_, changes):
        await changes.until(lambda: secure.clients == 1)
        (connection,) = secure._desktop.connections
        assert connection._transport.get_write_buffer_limits() == (0, 1)


async def test_a_client_that_has_vanished_is_noticed(serve, clients) -> None:
    """The kernel probes silent clients (SO_KEEPALIVE)."""
    server = await serve()
    clients.append(await RFBClient.connect(server.port))
    (connection,) = server._desktop.connections
    sock = connection._transport.get_extra_info("socket")
    assert sock.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)


async def test_answers_to_a_client_that_does_not_read_are_bounded(serve, clients, caplog) -> None:
    limits = ServerLimits(outgoing=64 * 1024)
    server = await serve(limits=limits)
    clients.append(client := await RFBClient.connect(server.port))
    (connection,) = server._desktop.connections
    client.writer.transport.pause_reading()
    most = 0
    async with asyncio.timeout(60):
        while server.clients:
            client.set_format(COLOUR_MAP)
            await asyncio.sleep(0)
            most = max(most, connection._transport.get_write_buffer_size())
    assert most <= limits.outgoing
    assert caplog.text.count("does not read") == 1


async def test_a_client_that_takes_nothing_for_long_is_dropped(serve, clients, caplog) -> None:
    inbox = Inbox()
    server = await serve(1600, 1000, limits=ServerLimits(stall=0.3), on_events=inbox)
    clients.append(client := await RFBClient.connect(server.port))
    client.writer.transport.pause_reading()
    server.present(np.ones((1000, 1600, 3), np.uint8))
    client.writer.write(encode([KeyEvent(97, True)]))
    client.request(False)
    await inbox.until(KeyEvent(97, False))
    assert server.clients == 0
    assert "took nothing in 0.3 s" in caplog.text


async def test_a_client_that_takes_its_time_is_kept(serve, clients) -> None:
    width, height = 1600, 1000
    server = await serve(width, height, limits=ServerLimits(stall=2.0))
    clients.append(client := await RFBClient.connect(server.port))
    server.present(np.ones((height, width, 3), np.uint8))
    client.request(False)
    length = 16 + width * height * 4
    for _ in range(8):
        client.writer.transport.pause_reading()
        await asyncio.sleep(0.3)
        client.writer.transport.resume_reading()
        await client.read(length // 8)
    assert await client.silent(), "it was longer about it than the stall, and never as long without a byte"


async def test_a_flood_of_keys_leaves_the_others_their_frames(serve, clients) -> None:
    inbox = Inbox()
    server = await serve(on_events=inbox)
    clients.append(flooder := await RFBClient.connect(server.port))
    clients.append(viewer := await RFBClient.connect(server.port))
    flood = encode([KeyEvent(97, True), KeyEvent(97, False)]) * 8192
    most = 0
    for step in range(60):
        if flooder.writer.transport.get_write_buffer_size() < len(flood):
            flooder.writer.write(flood)
        server.present(np.full((70, 100, 3), step + 1, np.uint8))
        before = len(inbox.events)
        viewer.request(True)
        await viewer.update()
        most = max(most, len(inbox.events) - before)
    handled = len(inbox.events)
    assert 0 < handled < 60 * 16384, "the flood is slowed down"
    assert most <= 4096, "a frame waited for more keys than 32 KiB contain"
