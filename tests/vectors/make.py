"""Record what real servers send, for `tests/vnc/client/test_vectors.py`: `python -m tests.vectors.make [SERVER ...]`.

Each server shows the same scene and ends with the same picture: for the X servers, `import` reads that picture
from the screen. It must equal `screen.png`; `--oracle` writes it there. Needs what system-packages.txt lists.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import socket
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import numpy as np
from PIL import Image

from vnc.capture.capture import CaptureWriter
from vnc.capture.record import record
from vnc.server.server import VNCServer
from vnc.session import Frame, VNCAddress

HERE = Path(__file__).parent
ORACLE = HERE / "screen.png"
WIDTH, HEIGHT = 96, 72
QUIET = 0.5
"""Seconds without an update after which a step of the scene counts as shown."""
LONGEST = 60.0

FORMS: dict[str, tuple[int, ...]] = {
    "raw": (0,),
    "copyrect": (1, 0),
    "rre": (2,),
    "hextile": (5,),
    "zlib": (6,),
    "tight": (7, 1, -224),
    "tight-jpeg": (7, 1, -224, -26),
    "zrle": (16,),
}
ENCODINGS = {
    "tigervnc": ("raw", "copyrect", "rre", "hextile", "tight", "tight-jpeg", "zrle"),
    "x11vnc": ("raw", "rre", "hextile", "zlib", "tight", "tight-jpeg", "zrle"),
    "ours": ("raw", "tight", "zrle"),
}
Scene = Callable[[Callable[[], Awaitable[None]]], Awaitable[None]]
"""Shows one step after the other, and waits after each with what it is given."""


def pictures() -> tuple[Frame, Frame]:
    """Two pictures with something for every sub-encoding; they differ in a part."""
    rng = np.random.default_rng(7)
    y, x = np.mgrid[:HEIGHT, :WIDTH]
    first = np.empty((HEIGHT, WIDTH, 3), np.uint8)
    first[:] = (20, 40, 90)
    first[:24, :40] = np.stack([6 * x, 9 * y, 2 * (x + y)], 2)[:24, :40]  # a photograph's gradient
    first[:24, 40:56] = rng.integers(0, 256, (24, 16, 3))  # noise
    first[:24, 56:][(x + y)[:24, 56:] % 2 == 0] = (250, 250, 250)  # two colours
    palette = rng.integers(0, 256, (100, 3), dtype=np.uint8)
    first[24:40] = palette[(x // 8 + y // 4)[24:40] % 5]  # five colours in runs
    first[40:48] = palette[rng.integers(0, 14, (8, WIDTH))]  # fourteen
    first[48:56] = palette[rng.integers(0, 100, (8, WIDTH))]  # more than tiles have a palette for
    second = first.copy()
    second[10:30, 60:90] = palette[((x + 2 * y) // 3)[10:30, 60:90] % 3]
    second[60:] = (200, 30, 30)
    return first, second


@asynccontextmanager
async def running(
    *command: str, display: str = "", **options: int
) -> AsyncIterator[asyncio.subprocess.Process]:
    process = await asyncio.create_subprocess_exec(
        *command, env=os.environ | {"DISPLAY": display}, stderr=asyncio.subprocess.DEVNULL, **options
    )
    try:
        yield process
    finally:
        process.terminate()
        try:
            await asyncio.wait_for(process.wait(), 60)
        except TimeoutError:  # x11vnc, now and then
            process.kill()
            await process.wait()


async def run(display: str, *command: str) -> None:
    """Whether it worked shows on the screen, see `check`; `display -window root` ends with 1 in any case."""
    process = await asyncio.create_subprocess_exec(*command, env=os.environ | {"DISPLAY": display})
    await process.wait()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@asynccontextmanager
async def display_of(*server: str) -> AsyncIterator[str]:
    async with running(*server, "-displayfd", "1", stdout=asyncio.subprocess.PIPE) as process:
        assert process.stdout
        number = (await asyncio.wait_for(process.stdout.readline(), 60)).decode().strip()
        if not number:
            raise RuntimeError(f"{server[0]} did not start")
        yield f":{number}"


async def show(display: str, picture: Frame, scratch: Path) -> None:
    path = scratch / "picture.png"
    Image.fromarray(picture).save(path)
    await run(display, "display", "-window", "root", str(path))


def x_scene(display: str, scratch: Path) -> Scene:
    """The first picture; a window that comes, and moves, which servers may send as a copy; the second picture."""

    async def scene(shown: Callable[[], Awaitable[None]]) -> None:
        first, second = pictures()
        await show(display, first, scratch)
        await shown()
        async with running("xlogo", "-geometry", "36x30+4+38", "-fg", "orange", display=display):
            await shown()
            await run(display, "xdotool", "search", "--class", "xlogo", "windowmove", "30", "20")
            await shown()
            await show(display, second, scratch)
            await shown()
            await check(display, scratch)

    return scene


async def check(display: str, scratch: Path) -> None:
    path = scratch / "screen.png"
    await run(display, "import", "-window", "root", "-depth", "8", f"PNG24:{path}")
    screen = np.asarray(Image.open(path))
    if not ORACLE.exists():
        Image.fromarray(screen).save(ORACLE, optimize=True)
    if not np.array_equal(screen, np.asarray(Image.open(ORACLE))):
        raise RuntimeError(f"the screen of {display} is not {ORACLE.name}")


@asynccontextmanager
async def tigervnc(scratch: Path) -> AsyncIterator[tuple[int, Scene]]:
    port = free_port()
    options = (
        "-geometry",
        f"{WIDTH}x{HEIGHT}",
        "-depth",
        "24",
        "-localhost",
        "-SecurityTypes=None",
        "-noreset",
    )
    async with display_of(
        "Xvnc", *options, "-rfbport", str(port), "-UseBlacklist=0", "-AlwaysShared"
    ) as display:
        yield port, x_scene(display, scratch)


@asynccontextmanager
async def x11vnc(scratch: Path) -> AsyncIterator[tuple[int, Scene]]:
    port = free_port()
    options = ("-localhost", "-nopw", "-forever", "-shared", "-nocursor", "-noipv6", "-quiet", "-nosel")
    async with (
        display_of("Xvfb", "-screen", "0", f"{WIDTH}x{HEIGHT}x24", "-noreset") as display,
        running("x11vnc", *options, "-display", display, "-rfbport", str(port)),
    ):
        await until_listening(port)
        yield port, x_scene(display, scratch)


async def until_listening(port: int) -> None:
    async with asyncio.timeout(60):
        while True:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", port)
            except OSError:
                await asyncio.sleep(0.1)
            else:
                writer.transport.abort()
                return


@asynccontextmanager
async def ours(scratch: Path) -> AsyncIterator[tuple[int, Scene]]:
    server = VNCServer(WIDTH, HEIGHT, name="ours")

    async def scene(shown: Callable[[], Awaitable[None]]) -> None:
        for picture in (*pictures(), np.asarray(Image.open(ORACLE))):
            server.present(picture)
            await shown()

    await server.start()
    try:
        yield server.port, scene
    finally:
        await server.close()


async def capture(port: int, scene: Scene, path: Path, encodings: tuple[int, ...]) -> None:
    news = asyncio.Event()

    async def shown() -> None:
        try:
            while True:
                await asyncio.wait_for(news.wait(), QUIET)
                news.clear()
        except TimeoutError:
            return

    def progress(file: CaptureWriter) -> None:
        news.set()

    recording = asyncio.create_task(
        record(
            VNCAddress("127.0.0.1", port), path, seconds=LONGEST, encodings=encodings, on_progress=progress
        )
    )
    await shown()
    await scene(shown)
    recording.cancel()
    await asyncio.wait([recording])


async def make(server: str, form: str, path: Path) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        async with SERVERS[server](Path(scratch)) as (port, scene):
            await capture(port, scene, path, FORMS[form])


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.vectors.make", description=__doc__)
    parser.add_argument(
        "servers", nargs="*", metavar="SERVER", help=f"of {', '.join(ENCODINGS)}; default: all"
    )
    parser.add_argument("--oracle", action="store_true", help="take the picture anew")
    options = parser.parse_args()
    if options.oracle:
        ORACLE.unlink(missing_ok=True)
    for server in options.servers or SERVERS:
        for form in ENCODINGS[server]:
            path = HERE / f"{server}-{form}.capture"
            path.unlink(missing_ok=True)
            asyncio.run(make(server, form, path))
            path.chmod(0o644)
            print(f"{path.name}: {path.stat().st_size} bytes")


SERVERS = {"tigervnc": tigervnc, "x11vnc": x11vnc, "ours": ours}


if __name__ == "__main__":
    main()
