"""The server as real viewers see it: TigerVNC, libvncclient, asyncvnc and vncdotool, alone and together."""

from __future__ import annotations

import asyncio
import contextlib
import io
import os
import shutil
import subprocess
import sys
import warnings
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from vnc.events import Event, KeyEvent, PointerEvent
from vnc.server import VNCServer

Frame = NDArray[np.uint8]
WIDTH, HEIGHT, PASSWORD = 320, 240, "neon42"
SOURCE = Path(__file__).with_name("libvncclient_grab.c")


def needs(*programs: str) -> pytest.MarkDecorator:
    missing = [program for program in programs if shutil.which(program) is None]
    return pytest.mark.skipif(bool(missing), reason=f"not installed: {', '.join(missing)}")


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
        async with asyncio.timeout(10):
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


async def output(*command: str, stdin: bytes = b"", env: dict[str, str] | None = None) -> bytes:
    """What a program prints; it has 20 s."""
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe, stderr=pipe, env=env)
    try:
        stdout, stderr = await asyncio.wait_for(process.communicate(stdin), 20)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    assert process.returncode == 0, stderr.decode(errors="replace")
    return stdout


@pytest.fixture(scope="session")
def grabber(tmp_path_factory: pytest.TempPathFactory) -> str:
    program = tmp_path_factory.mktemp("libvncclient") / "grab"
    command = ["gcc", "-O1", "-Wall", "-Werror", "-o", str(program), str(SOURCE), "-lvncclient"]
    subprocess.run(command, check=True, timeout=60)
    return str(program)


async def grab(grabber: str, port: int, encoding: str, count: int = 1) -> list[Frame]:
    command = (grabber, "127.0.0.1", str(port), encoding, str(count))
    data = await output(*command, stdin=f"{PASSWORD}\n".encode())
    return list(np.frombuffer(data, np.uint8).reshape(count, HEIGHT, WIDTH, 3))


async def screenshot(port: int) -> Frame:
    """Through asyncvnc."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the library's own: it still imports DES from its old place
        import asyncvnc

        async with asyncvnc.connect("127.0.0.1", port, password=PASSWORD) as client:
            return np.array(await asyncio.wait_for(client.screenshot(), 10))[..., :3]


async def capture(port: int, path: Path) -> Frame:
    """Through vncdotool's `vncdo`."""
    program = str(Path(sys.executable).with_name("vncdo"))
    await output(program, "-s", f"127.0.0.1::{port}", "-p", PASSWORD, "capture", str(path))
    with Image.open(path) as image:
        return np.asarray(image.convert("RGB"))


class Clock:
    """Presents a new picture 60 times a second."""

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


@needs("gcc")
@pytest.mark.parametrize("encoding", ["raw", "zrle", "tight"])
async def test_libvncclient(server: VNCServer, grabber: str, encoding: str) -> None:
    (frame,) = await grab(grabber, server.port, encoding)
    assert (frame == picture(0)).all()


@needs("gcc")
@pytest.mark.parametrize("encoding", ["raw", "zrle", "tight"])
async def test_libvncclient_follows_a_moving_picture(server: VNCServer, grabber: str, encoding: str) -> None:
    clock = Clock(server)
    frames = await grab(grabber, server.port, encoding, 20)
    await clock.stop()
    assert all(clock.shown(frame) for frame in frames), "every update leaves a whole picture"
    assert any((frames[0] != frame).any() for frame in frames)


@needs("gcc")
async def test_libvncclient_with_a_wrong_password(server: VNCServer, grabber: str) -> None:
    with pytest.raises(AssertionError, match=r"(?i)authentication failed"):
        await output(grabber, "127.0.0.1", str(server.port), "raw", "1", stdin=b"wrong\n")


async def test_asyncvnc(server: VNCServer) -> None:
    assert (await screenshot(server.port) == picture(0)).all()


async def test_vncdotool(server: VNCServer, tmp_path: Path) -> None:
    assert (await capture(server.port, tmp_path / "screen.png") == picture(0)).all()


@needs("gcc")
async def test_all_of_them_at_once(server: VNCServer, grabber: str, tmp_path: Path) -> None:
    clock = Clock(server)
    *single, follow = await asyncio.gather(
        screenshot(server.port),
        capture(server.port, tmp_path / "screen.png"),
        screenshot(server.port),
        grab(grabber, server.port, "zrle", 10),
    )
    tight = await grab(grabber, server.port, "tight", 10)
    await clock.stop()
    assert all(clock.shown(frame) for frame in [*single, *follow, *tight])


class Display:
    """An Xvfb of its own, with a program on it."""

    def __init__(self, number: str) -> None:
        self.env = {**os.environ, "DISPLAY": f":{number}"}

    async def look(self) -> Frame:
        png = await output("import", "-window", "root", "-depth", "8", "png:-", env=self.env)
        with Image.open(io.BytesIO(png)) as image:
            return np.asarray(image.convert("RGB"))

    async def until_shown(self, frame: Frame) -> tuple[int, int]:
        """Look until `frame` is somewhere on the screen; return where."""
        async with asyncio.timeout(15):
            while (place := find(frame, await self.look())) is None:
                pass
        return place


def find(frame: Frame, screen: Frame) -> tuple[int, int] | None:
    """(x, y) of `frame` inside `screen`, exactly."""
    height, width = frame.shape[:2]
    down, right = screen.shape[0] - height + 1, screen.shape[1] - width + 1
    possible = np.ones((down, right), np.bool_)
    for y in (0, height // 2, height - 1):
        for x in range(0, width, 10):
            possible &= (screen[y : y + down, x : x + right] == frame[y, x]).all(axis=2)
    for y, x in np.argwhere(possible).tolist():
        if (screen[y : y + height, x : x + width] == frame).all():
            return x, y
    return None


@contextlib.asynccontextmanager
async def running(*command: str, **options: object) -> AsyncIterator[asyncio.subprocess.Process]:
    process = await asyncio.create_subprocess_exec(*command, **options)
    try:
        yield process
    finally:
        if process.returncode is None:
            process.terminate()
        await asyncio.wait_for(process.wait(), 10)


@pytest.fixture
async def display() -> AsyncIterator[Display]:
    command = ("Xvfb", "-displayfd", "1", "-screen", "0", "640x480x24", "-nolisten", "tcp")
    quiet = asyncio.subprocess.DEVNULL
    async with running(*command, stdout=asyncio.subprocess.PIPE, stderr=quiet) as xvfb:
        assert xvfb.stdout is not None
        number = await asyncio.wait_for(xvfb.stdout.readline(), 10)
        yield Display(number.decode().strip())


def viewer(server: VNCServer, passwd: Path, display: Display, *options: str):
    command = ("xtigervncviewer", "-passwd", str(passwd), *options, f"127.0.0.1::{server.port}")
    quiet = asyncio.subprocess.DEVNULL
    return running(*command, stdout=quiet, stderr=quiet, env=display.env)


def password_file(path: Path, password: str) -> Path:
    made = subprocess.run(
        ["vncpasswd", "-f"], input=f"{password}\n".encode(), capture_output=True, check=True, timeout=10
    )
    path.write_bytes(made.stdout)
    path.chmod(0o600)
    return path


TIGER = needs("Xvfb", "xtigervncviewer", "vncpasswd", "import", "xdotool")


@TIGER
@pytest.mark.parametrize("encoding", ["Tight", "ZRLE", "Raw"])
async def test_vncviewer(server: VNCServer, display: Display, tmp_path: Path, encoding: str) -> None:
    passwd = password_file(tmp_path / "passwd", PASSWORD)
    options = ("-AutoSelect=0", "-NoJPEG=1", f"-PreferredEncoding={encoding}")
    async with viewer(server, passwd, display, *options):
        await display.until_shown(picture(0))
        server.present(picture(33))
        await display.until_shown(picture(33))


@TIGER
async def test_vncviewer_types_and_points(
    server: VNCServer, inbox: Inbox, display: Display, tmp_path: Path
) -> None:
    passwd = password_file(tmp_path / "passwd", PASSWORD)
    async with viewer(server, passwd, display):
        x, y = await display.until_shown(picture(0))
        await output("xdotool", "mousemove", str(x + 50), str(y + 60), "click", "1", env=display.env)
        await inbox.until({PointerEvent(50, 60, 1), PointerEvent(50, 60, 0)})
        # No window manager gives the viewer the keyboard.
        await output(
            "xdotool", "search", "--onlyvisible", "--name", "TigerVNC", "windowfocus", env=display.env
        )
        await output("xdotool", "key", "a", env=display.env)
        await inbox.until({KeyEvent(97, True), KeyEvent(97, False)})


@TIGER
@pytest.mark.parametrize("level", ["0", "1", "2"])
async def test_vncviewer_in_few_colours(
    server: VNCServer, display: Display, tmp_path: Path, level: str
) -> None:
    shown = np.zeros((HEIGHT, WIDTH, 3), np.uint8)
    shown[100:200, 50:250] = 255  # black and white are in every palette
    server.present(shown)
    passwd = password_file(tmp_path / "passwd", "watch")
    options = ("-AutoSelect=0", "-FullColor=0", f"-LowColorLevel={level}", "-PreferredEncoding=ZRLE")
    async with viewer(server, passwd, display, *options):
        await display.until_shown(shown)
