"""Sessions of a driver with a server that the test writes, and waits for their state."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from tests.support.vnc.rfb import Peer, listening
from vnc import drivers
from vnc.errors import VNCError
from vnc.server.server import ServerLimits, VNCServer
from vnc.session import Connect, Frame, Limits, Session, Timeouts, VNCAddress

CALM = Timeouts(probe_interval=30.0)  # no probes, because the scripted servers do not answer them

Talk = Callable[[Peer], Awaitable[None]]


class Changes:
    """Waits for a condition of a session. It checks at each notification, and at intervals.

    Attributes:
        count: the number of notifications.
    """

    def __init__(self) -> None:
        self.count = 0
        self._event = asyncio.Event()

    def __call__(self) -> None:
        self.count += 1
        self._event.set()

    async def until(self, condition: Callable[[], object], seconds: float = 60.0) -> None:
        async with asyncio.timeout(seconds):
            while not condition():
                self._event.clear()
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._event.wait(), 0.02)


@dataclass(frozen=True)
class Opener:
    """Opens sessions of one driver on local ports, and closes them at the end of each block."""

    connect: Connect

    @asynccontextmanager
    async def on(
        self,
        port: int,
        password: str | None = None,
        timeouts: Timeouts = CALM,
        limits: Limits = Limits(),  # noqa: B008
        encodings: tuple[int, ...] | None = None,
        **address: Any,
    ) -> AsyncIterator[tuple[Session, Changes]]:
        changes = Changes()
        session = await self.connect(
            VNCAddress(address.pop("host", "127.0.0.1"), port, password, **address),
            on_change=changes,
            timeouts=timeouts,
            limits=limits,
            encodings=encodings,
        )
        try:
            yield session, changes
        finally:
            await session.close()

    @asynccontextmanager
    async def to(
        self,
        talk: Talk,
        timeouts: Timeouts = CALM,
        limits: Limits = Limits(),  # noqa: B008
    ) -> AsyncIterator[tuple[Session, Changes]]:
        """Open a session with a scripted server, whose script begins when `connect` has returned.

        Nobody is notified of what arrives before.
        """
        is_open = asyncio.Event()

        async def serve(peer: Peer) -> None:
            await peer.open()
            await is_open.wait()
            await talk(peer)

        async with listening(serve) as port, self.on(port, timeouts=timeouts, limits=limits) as opened:
            is_open.set()
            yield opened

    async def error_after(self, data: bytes, limits: Limits = Limits()) -> VNCError:  # noqa: B008
        """Return the error of a session whose server sends `data` and keeps the connection open."""

        async def talk(peer: Peer) -> None:
            await peer.request()
            peer.write(data)
            await peer.idle()

        async with self.to(talk, limits=limits) as (session, changes):
            await changes.until(lambda: session.error is not None)
            assert session.error is not None
            assert (taken(session) == 0).all(), "part of a broken update is shown"
            return session.error

    async def refused_by(
        self,
        talk: Talk,
        password: str | None = None,
        timeouts: Timeouts = CALM,
        **address: Any,
    ) -> VNCError:
        """Return the error of opening a session with a server that runs `talk` from its first byte on."""
        async with listening(talk) as port:
            try:
                async with self.on(port, password, timeouts, **address):
                    raise AssertionError("a session was opened")
            except VNCError as error:
                return error


def taken(session: Session) -> Frame:
    out = np.zeros(session.shape, np.uint8)
    session.take(out)
    return out


@pytest.fixture
def opened(driver: str) -> Opener:
    """Sessions of each installed driver; a module about one driver overrides `driver`."""
    return Opener(drivers.connect(driver))


@pytest.fixture
async def server() -> AsyncIterator[VNCServer]:
    """Our server, 40x30, with the password "pass wor"."""
    server = VNCServer(40, 30, password="pass wor", limits=ServerLimits(failure_delay=0.01))
    await server.start()
    yield server
    await server.close()
