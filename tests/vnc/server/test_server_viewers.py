"""The server with real viewers: TigerVNC, libvncclient, asyncvnc and vncdotool, alone and together."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from tests.support.vnc import viewers
from tests.support.vnc.viewers import Display, Frame, output, password_file
from vnc.events import Event, KeyEvent, PointerEvent
from vnc.server.server import VNCServer

WIDTH, HEIGHT, PASSWORD = 320, 240, "neon42"


def picture(step: int) -> Frame:
    """Flat areas, two- and many-coloured ones, a gradient and noise; no two steps are alike."""
    frame = np.zeros((HEIGHT, WIDTH, 3), np.uint8)
    frame[:] = (20, 40, step % 256)
    frame[:80, :100, 0] = np.arange(100) * 2
    frame[:80, :100, 1] = np.arange(80)[:, None] * 3
    frame[90:150, 10:200] = ((np.indices((60, 190)).sum(axis=0) // 3 % 2) * 255)[..., None]
    frame[160:200, 20:120] = np.array([[255, 0, 0], [0, 255, 0], [9, 9, 9]])[np.arange(100) * 7 % 3]
    frame[100:230, 210:310] = np.random.default_rng(step).integers(0, 256, (130, 100, 3))
    frame[5:15, 110 + step % 150 : 130 + step % 150] = (255, 255, 0)
    return frame


class Inbox:
    """Collects events."""

    def __init__(self) -> None:
        self.events: set[Event] = set()
        self._arrived = asyncio.Event()

    def __call__(self, events: Sequence[Event]) -> None:
        self.events.update(events)
        self._arrived.set()

    async def until(self, expected: set[Event]) -> None:
        async with asyncio.timeout(60):
            while not expected <= self.events:
                self._arrived.clear()
                await self._arrived.wait()


@pytest.fixture
def inbox() -> Inbox:
    return Inbox()


@pytest.fixture
async def server(inbox: Inbox) -> AsyncIterator[VNCServer]:
    running = VNCServer(WIDTH, HEIGHT, password=PASSWORD, view_only_password="watch", on_events=inbox)
    await running.start()
    running.present(picture(0))
    yield running
    await running.close()


@pytest.fixture(scope="session")
def grabber(tmp_path_factory: pytest.TempPathFactory) -> str:
    return viewers.compile_grabber(tmp_path_factory.mktemp("libvncclient"))


async def grab(grabber: str, port: int, encoding: str, count: int = 1) -> list[Frame]:
    return await viewers.grab(grabber, port, PASSWORD, encoding, (HEIGHT, WIDTH, 3), count)


class Clock:
    """Presents a new picture 60 times per second."""

    def __init__(self, server: VNCServer) -> None:
        self._server = server
        self._task = asyncio.create_task(self._run())
        self.steps = 0

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        due = loop.time()
        while True:
            self.steps += 1
            self._server.present(picture(self.steps))
            due += 1 / 60
            await asyncio.sleep(due - loop.time())

    async def stop(self) -> None:
        self._task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._task

    def shown(self, frame: Frame) -> bool:
        """Whether `frame` is exactly one of the pictures so far."""
        return any((frame == picture(step)).all() for step in range(self.steps + 1))


@pytest.mark.parametrize("encoding", ["raw", "zrle", "tight"])
async def test_libvncclient(server: VNCServer, grabber: str, encoding: str) -> None:
    (frame,) = await grab(grabber, server.port, encoding)
    assert (frame == picture(0)).all()


@pytest.mark.parametrize("encoding", ["raw", "zrle", "tight"])
async def test_libvncclient_follows_a_moving_picture(server: VNCServer, grabber: str, encoding: str) -> None:
    clock = Clock(server)
    frames = await grab(grabber, server.port, encoding, 20)
    await clock.stop()
    assert all(clock.shown(frame) for frame in frames), "every update leaves a whole picture"
    assert any((frames[0] != frame).any() for frame in frames)


async def test_libvncclient_with_a_wrong_password(server: VNCServer, grabber: str) -> None:
    with pytest.raises(AssertionError, match=r"(?i)authentication failed"):
        await output(grabber, "127.0.0.1", str(server.port), "raw", "1", stdin=b"wrong\n")


async def test_asyncvnc(server: VNCServer) -> None:
    assert (await viewers.screenshot(server.port, PASSWORD) == picture(0)).all()


async def test_vncdotool(server: VNCServer, tmp_path: Path) -> None:
    assert (await viewers.capture(server.port, PASSWORD, tmp_path / "screen.png") == picture(0)).all()


async def test_all_of_them_at_once(server: VNCServer, grabber: str, tmp_path: Path) -> None:
    clock = Clock(server)
    *single, follow = await asyncio.gather(
        viewers.screenshot(server.port, PASSWORD),
        viewers.capture(server.port, PASSWORD, tmp_path / "screen.png"),
        viewers.screenshot(server.port, PASSWORD),
        grab(grabber, server.port, "zrle", 10),
    )
    tight = await grab(grabber, server.port, "tight", 10)
    await clock.stop()
    assert all(clock.shown(frame) for frame in [*single, *follow, *tight])


@pytest.fixture
async def display() -> AsyncIterator[Display]:
    async with viewers.xvfb() as display:
        yield display


@pytest.mark.parametrize("encoding", ["Tight", "ZRLE", "Raw"])
async def test_vncviewer(server: VNCServer, display: Display, tmp_path: Path, encoding: str) -> None:
    passwd = password_file(tmp_path / "passwd", PASSWORD)
    options = ("-AutoSelect=0", "-NoJPEG=1", f"-PreferredEncoding={encoding}")
    async with viewers.vncviewer(server.port, passwd, display, *options):
        await display.until_shown(picture(0))
        server.present(picture(33))
        await display.until_shown(picture(33))


async def test_vncviewer_types_and_points(
    server: VNCServer, inbox: Inbox, display: Display, tmp_path: Path
) -> None:
    passwd = password_file(tmp_path / "passwd", PASSWORD)
    async with viewers.vncviewer(server.port, passwd, display):
        x, y = await display.until_shown(picture(0))
        await output("xdotool", "mousemove", str(x + 50), str(y + 60), "click", "1", env=display.env)
        await inbox.until({PointerEvent(50, 60, 1), PointerEvent(50, 60, 0)})
        # No window manager gives the viewer the keyboard.
        await output(
            "xdotool", "search", "--onlyvisible", "--name", "TigerVNC", "windowfocus", env=display.env
        )
        await output("xdotool", "key", "a", env=display.env)
        await inbox.until({KeyEvent(97, True), KeyEvent(97, False)})


@pytest.mark.parametrize("level", ["0", "1", "2"])
async def test_vncviewer_in_few_colours(
    server: VNCServer, display: Display, tmp_path: Path, level: str
) -> None:
    shown = np.zeros((HEIGHT, WIDTH, 3), np.uint8)
    shown[100:200, 50:250] = 255  # black and white are in every palette
    server.present(shown)
    passwd = password_file(tmp_path / "passwd", "watch")
    options = ("-AutoSelect=0", "-FullColor=0", f"-LowColorLevel={level}", "-PreferredEncoding=ZRLE")
    async with viewers.vncviewer(server.port, passwd, display, *options):
        await display.until_shown(shown)
