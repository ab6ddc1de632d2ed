"""Input that a session sends at given times, on every driver and over TLS."""

from __future__ import annotations

import asyncio
import ctypes
import math
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from tests.support.drivers import needs_native
from tests.support.vnc.rfb import Peer, listening
from tests.support.vnc.vencrypt import X509_NONE, honest
from vnc.events import KeyEvent, encode
from vnc.server.server import VNCServer
from vnc.tls import TLS

LATER = 1000.0


class Listening:
    """A server that keeps the keysyms that it receives."""

    def __init__(self) -> None:
        self.keys: list[int] = []
        self._arrived = asyncio.Event()

    def __call__(self, events) -> None:
        self.keys += [event.keysym for event in events]
        self._arrived.set()

    async def receive(self, count: int) -> list[int]:
        async with asyncio.timeout(60):
            while len(self.keys) < count:
                self._arrived.clear()
                await self._arrived.wait()
        return self.keys


@pytest.fixture
def listening_session(opened):
    @asynccontextmanager
    async def open_one() -> AsyncIterator[tuple[object, Listening]]:
        received = Listening()
        server = VNCServer(10, 10, on_events=received)
        await server.start()
        async with opened.on(server.port) as (session, _):
            yield session, received
        await server.close()

    return open_one


def at(moment: float, keysym: int) -> tuple[float, list[KeyEvent]]:
    return moment, [KeyEvent(keysym, True)]


async def test_entries_are_sent_in_order_at_their_times(listening_session):
    async with listening_session() as (session, received):
        now = time.monotonic()
        assert session.plan(now - 1, [at(now - 1, 1), at(now + 0.02, 2), at(now + 0.02, 3)]) == 0
        assert session.plan(now + 0.04, [at(now + 0.04, 4)]) == 0
        assert await received.receive(4) == [1, 2, 3, 4]
        played = session.played()
        assert played == sorted(played)
        assert all(sent >= now + delay for sent, delay in zip(played, [0, 0.02, 0.02, 0.04], strict=True))
        assert session.played() == []


async def test_a_replacement_drops_the_later_entries_and_may_come_earlier(listening_session):
    async with listening_session() as (session, received):
        now = time.monotonic()
        session.plan(now, [at(now + LATER, 1), at(now + LATER + 1, 2)])
        assert session.plan(now + LATER + 1, [at(now + LATER + 2, 3)]) == 1
        assert session.plan(now, [at(now + 0.01, 4)]) == 2
        assert await received.receive(1) == [4]
        assert session.plan(-math.inf, []) == 0


async def test_after_a_replacement_nothing_of_the_old_plan_is_sent(listening_session):
    async with listening_session() as (session, received):
        sent = 0
        for _ in range(50):
            now = time.monotonic()
            session.plan(now, [at(now + 0.0002 * step, 1) for step in range(20)])
            await asyncio.sleep(0.001)
            dropped = session.plan(-math.inf, [])
            sent += len(session.played())
            assert dropped <= 20
            session.send([KeyEvent(2, True)])
            sent += 1
            assert len(await received.receive(sent)) == sent
            assert received.keys[-1] == 2
        assert session.played() == []


async def test_a_session_that_ends_sends_no_more(listening_session):
    async with listening_session() as (session, _):
        now = time.monotonic()
        session.plan(now, [at(now + LATER, 1)])
        await session.close()
        assert session.plan(-math.inf, []) == 1
        session.plan(now, [at(now, 1)])  # without an effect


@needs_native
@pytest.mark.parametrize("driver", ["native"])
async def test_the_native_driver_needs_no_gil(listening_session):
    async with listening_session() as (session, received):
        now = time.monotonic()
        session.plan(now, [at(now + 0.01 * step, step) for step in range(20)])
        ctypes.PyDLL(None).usleep(2_000_000)  # a call through PyDLL keeps the GIL
        free = time.monotonic()
        played = session.played()
        assert len(played) == 20
        assert all(sent < free for sent in played)
        assert played[-1] - played[0] > 0.1, "all at once"
        assert len(await received.receive(20)) == 20


async def test_over_tls_too(opened, authority, identity):
    received: list[bytes] = []

    async def no_login(peer: Peer) -> None:
        pass

    async def until_pressed(peer: Peer) -> None:
        received.append(await peer.read(16))
        await peer.idle()

    talk = honest(identity.context(), X509_NONE, no_login, until_pressed)
    async with (
        listening(talk) as port,
        opened.on(port, tls=TLS(ca_file=authority.certificate)) as (session, changes),
    ):
        await changes.until(lambda: session.frames == 1)
        now = time.monotonic()
        session.plan(now, [at(now + 0.01, 1), at(now + 0.02, 2), at(now + LATER, 3)])
        await changes.until(lambda: bool(received))
        played = session.played()
        assert all(sent >= now + delay for sent, delay in zip(played, [0.01, 0.02], strict=True))
        assert received == [encode([KeyEvent(1, True), KeyEvent(2, True)])]
        assert session.plan(-math.inf, []) == 1
