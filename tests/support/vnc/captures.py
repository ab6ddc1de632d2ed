"""Captures for tests: screens to record, recorded sessions, clients of a replay."""

from __future__ import annotations

import asyncio
import stat
import struct
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import numpy as np
import pytest

from tests.support.vnc.xvnc import xvnc_server
from tests.vnc.rfb_client import RFBClient
from vnc.capture.capture import Capture, CaptureHeader, CaptureWriter
from vnc.capture.record import Recorder
from vnc.capture.replay import ReplayServer
from vnc.capture.scan import ServerMessage
from vnc.client.portable import PortableSession, connect
from vnc.events import Event, KeyEvent
from vnc.server.server import VNCServer
from vnc.session import Frame, VNCAddress

WIDTH, HEIGHT = 96, 64
PASSWORD = "sesame!1"
EMPTY_UPDATE = bytes(4)
ONE_PIXEL = struct.pack(">BxHHHHHi4s", 0, 1, 1, 1, 1, 1, 0, b"abcd")
SECRET_KEY = KeyEvent(0x736563, True), KeyEvent(0x736563, False)


class Watcher:
    """A portable session that can wait for pixels."""

    def __init__(self) -> None:
        self._changed = asyncio.Event()
        self.session: PortableSession

    @classmethod
    @asynccontextmanager
    async def open(cls, port: int) -> AsyncIterator[Watcher]:
        watcher = cls()
        watcher.session = await connect(VNCAddress("127.0.0.1", port), on_change=watcher._changed.set)
        try:
            yield watcher
        finally:
            await watcher.session.close()

    async def until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(60):
            while not condition():
                self._changed.clear()
                await self._changed.wait()

    @property
    def frame(self) -> Frame:
        out = np.zeros(self.session.shape, np.uint8)
        self.session.take(out)
        return out


def picture(seed: int) -> Frame:
    return np.random.default_rng(seed).integers(0, 256, (HEIGHT, WIDTH, 3), dtype=np.uint8)


class PressedServer(VNCServer):
    """Our server, which collects its input events."""

    def __init__(self) -> None:
        self.pressed: asyncio.Queue[Event] = asyncio.Queue()
        super().__init__(WIDTH, HEIGHT, name="a screen", password=PASSWORD, on_events=self._keep)

    def _keep(self, events: Sequence[Event]) -> None:
        for event in events:
            self.pressed.put_nowait(event)


@pytest.fixture
async def server() -> AsyncIterator[PressedServer]:
    running = PressedServer()
    await running.start()
    running.present(picture(0))
    yield running
    await running.close()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "session.capture"


def address_of(server: VNCServer) -> VNCAddress:
    return VNCAddress("127.0.0.1", server.port, PASSWORD)


def content_and_mode(path: Path) -> tuple[bytes, int]:
    return path.read_bytes(), stat.S_IMODE(path.stat().st_mode)


@asynccontextmanager
async def plain(port: int) -> AsyncIterator[RFBClient]:
    client = await RFBClient.connect(port)
    try:
        yield client
    finally:
        client.writer.transport.abort()


@asynccontextmanager
async def replaying(capture: Capture, speed: float | None = None) -> AsyncIterator[ReplayServer]:
    replay = ReplayServer(capture, speed=speed)
    await replay.start()
    try:
        yield replay
    finally:
        await replay.close()


async def session_through_recorder(server: PressedServer, path: Path) -> list[Event]:
    """Record a client that receives some pictures and presses a key; return the events that `server` received."""
    recorder = await Recorder.open(address_of(server), path)
    running = asyncio.create_task(recorder.run())
    async with Watcher.open(recorder.port) as watcher:
        for number in range(4):
            server.present(picture(number))
            await watcher.until(lambda number=number: np.array_equal(watcher.frame, picture(number)))
        watcher.session.send(SECRET_KEY)
        pressed = [await asyncio.wait_for(server.pressed.get(), 60) for _ in SECRET_KEY]
    await asyncio.wait_for(running, 60)
    await recorder.close()
    return pressed


def written(path: Path, *updates: bytes, **options: int) -> CaptureWriter:
    with CaptureWriter(path, CaptureHeader(WIDTH, HEIGHT, "written"), **options) as file:
        for data in updates:
            file.message(ServerMessage(0, data, encodings=frozenset({0})))
    return file


@pytest.fixture
async def xvnc(tmp_path: Path) -> AsyncIterator[tuple[int, str]]:
    """Run TigerVNC's server with a password; yield its port and its display."""
    async with xvnc_server(tmp_path, PASSWORD) as server:
        yield server
