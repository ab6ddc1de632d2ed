"""Clients of shared frames that are read at ticks: nothing is lost, and a slow client is read at once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

from tests.vnc.rfb_client import RFBClient
from tests.vnc.server.test_server import Inbox, frame
from tests.vnc.server.test_server import clients as clients
from tests.vnc.server.test_server import serve as serve
from tests.vnc.shared_client import SharedClient
from vnc.events import KeyEvent, encode
from vnc.server.client import ClientConnection
from vnc.server.server import VNCServer

PRESS, RELEASE = KeyEvent(0x61, True), KeyEvent(0x61, False)
ANSWER = 0.2
"""Seconds in which a server that reads at once has read; nothing depends on its being enough."""


async def polled(server: VNCServer, clients: list[RFBClient]) -> tuple[SharedClient, ClientConnection]:
    """A client that is read at ticks, and holds nothing."""
    client = await SharedClient.ready_on(server.port)
    clients.append(client.vnc)
    client.release(await client.held())
    (connection,) = server._desktop.connections
    await until(lambda: not connection._shared.holding)
    server.poll()
    assert connection._polled.is_active
    return client, connection


async def until(condition: Callable[[], object], act: Callable[[], object] = lambda: None) -> None:
    async with asyncio.timeout(60):
        while not condition():
            act()
            await asyncio.sleep(0.005)


@asynccontextmanager
async def ticking(server: VNCServer) -> AsyncIterator[None]:
    async def tick() -> None:
        while True:
            server.poll()
            server.flush()
            await asyncio.sleep(0.002)

    task = asyncio.create_task(tick())
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def test_input_waits_for_the_next_tick(serve, clients) -> None:
    inbox = Inbox()
    server = await serve(on_events=inbox)
    client, _ = await polled(server, clients)
    client.vnc.writer.write(encode([PRESS]))
    await asyncio.sleep(ANSWER)
    assert inbox.events == []
    await until(lambda: inbox.events, server.poll)
    assert inbox.events == [PRESS]


async def test_a_request_is_answered_after_the_tick_with_its_frame(serve, clients) -> None:
    server = await serve()
    client, connection = await polled(server, clients)
    server.present(frame(1))
    client.vnc.request(True)
    await until(lambda: connection._requested, server.poll)
    server.present(frame(2))
    server.flush()
    number = {int.from_bytes(rect.payload, "big") for rect in await client.vnc.update()}.pop()
    assert (client.frame(number) == frame(2)).all()


async def test_frames_and_input_of_many_ticks_arrive(serve, clients) -> None:
    inbox = Inbox()
    server = await serve(on_events=inbox)
    client, _ = await polled(server, clients)
    async with ticking(server):
        for seed in range(50):
            server.present(frame(seed))
            number = await client.held()
            assert (client.frame(number) == frame(seed)).all()
            client.vnc.writer.write(encode([PRESS, RELEASE]))
            client.release(number)
        await until(lambda: len(inbox.events) >= 100)
    assert inbox.events == [PRESS, RELEASE] * 50


async def test_more_input_than_one_read_arrives_in_order(serve, clients) -> None:
    inbox = Inbox()
    server = await serve(on_events=inbox)
    client, _ = await polled(server, clients)
    sent = [KeyEvent(0x100 + n // 2, n % 2 == 0) for n in range(2000)]
    client.vnc.writer.write(encode(sent))
    await until(lambda: len(inbox.events) >= len(sent), server.poll)
    assert inbox.events == sent


async def test_a_client_that_is_late_is_read_at_once(serve, clients) -> None:
    server = await serve()
    client, connection = await polled(server, clients)
    async with ticking(server):
        number = await client.held()
        await until(lambda: not connection._polled.is_active)
    client.release(number)
    server.present(frame(1))
    client.vnc.request(True)
    number = {int.from_bytes(rect.payload, "big") for rect in await client.vnc.update()}.pop()
    assert (client.frame(number) == frame(1)).all()
    client.release(number)
    await until(lambda: not connection._shared.holding)
    await until(lambda: connection._polled.is_active, server.poll)


async def test_after_the_ticks_clients_are_read_at_once(serve, clients) -> None:
    inbox = Inbox()
    server = await serve(on_events=inbox)
    client, _ = await polled(server, clients)
    client.vnc.writer.write(encode([PRESS]))
    server.watch()
    await inbox.until(PRESS)
    client.vnc.writer.write(encode([RELEASE]))
    await inbox.until(RELEASE)
    client.vnc.request(False)
    await client.vnc.update()


async def test_the_ends_of_clients_are_noticed(serve, clients) -> None:
    inbox = Inbox()
    server = await serve(on_events=inbox)
    for end in (lambda vnc: vnc.writer.close(), lambda vnc: vnc.writer.transport.abort()):
        client, _ = await polled(server, clients)
        client.vnc.writer.write(encode([PRESS]))
        await until(lambda: inbox.events, server.poll)
        end(client.vnc)
        await until(lambda: not server.connections, server.poll)
        assert inbox.events == [PRESS, RELEASE], "held keys are released"
        inbox.events.clear()


async def test_a_client_that_breaks_the_protocol_is_disconnected(serve, clients) -> None:
    server = await serve()
    client, _ = await polled(server, clients)
    client.release(5)
    await until(lambda: not server.connections, server.poll)


async def test_clients_of_pixels_are_read_at_once(serve, clients) -> None:
    inbox = Inbox()
    server = await serve(on_events=inbox)
    clients.append(client := await RFBClient.connect(server.port))
    for _ in range(3):
        server.poll()
    client.writer.write(encode([PRESS]))
    await inbox.until(PRESS)
