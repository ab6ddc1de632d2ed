"""Other VNC clients: TigerVNC's viewer, libvncclient, asyncvnc and vncdotool."""

from __future__ import annotations

import asyncio
import contextlib
import io
import os
import subprocess
import sys
import warnings
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

Frame = NDArray[np.uint8]
SOURCE = Path(__file__).with_name("libvncclient_grab.c")


async def output(*command: str, stdin: bytes = b"", env: dict[str, str] | None = None) -> bytes:
    """Return the output of a program, which may take 20 s."""
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe, stderr=pipe, env=env)
    try:
        stdout, stderr = await asyncio.wait_for(process.communicate(stdin), 60)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    assert process.returncode == 0, stderr.decode(errors="replace")
    return stdout


def compile_grabber(directory: Path) -> str:
    """Compile the libvncclient program; return its path."""
    program = directory / "grab"
    command = ["gcc", "-O1", "-Wall", "-Werror", "-o", str(program), str(SOURCE), "-lvncclient"]
    subprocess.run(command, check=True, timeout=60)
    return str(program)


async def grab(
    grabber: str, port: int, password: str, encoding: str, shape: tuple[int, int, int], count: int = 1
) -> list[Frame]:
    """Return the next `count` frames, received by libvncclient."""
    command = (grabber, "127.0.0.1", str(port), encoding, str(count))
    data = await output(*command, stdin=f"{password}\n".encode())
    return list(np.frombuffer(data, np.uint8).reshape(count, *shape))


async def screenshot(port: int, password: str) -> Frame:
    """Return a frame, received by asyncvnc."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # asyncvnc imports DES from its deprecated module
        import asyncvnc

        async with asyncvnc.connect("127.0.0.1", port, password=password) as client:
            return np.array(await asyncio.wait_for(client.screenshot(), 60))[..., :3]


async def capture(port: int, password: str, path: Path) -> Frame:
    """Return a frame, received by vncdotool's `vncdo`."""
    program = str(Path(sys.executable).with_name("vncdo"))
    await output(program, "-s", f"127.0.0.1::{port}", "-p", password, "capture", str(path))
    with Image.open(path) as image:
        return np.asarray(image.convert("RGB"))


class Display:
    """An Xvfb with a program on it."""

    def __init__(self, number: str) -> None:
        self.env = {**os.environ, "DISPLAY": f":{number}"}

    async def look(self) -> Frame:
        png = await output("import", "-window", "root", "-depth", "8", "png:-", env=self.env)
        with Image.open(io.BytesIO(png)) as image:
            return np.asarray(image.convert("RGB"))

    async def until_shown(self, frame: Frame) -> tuple[int, int]:
        """Wait until `frame` is on the screen; return its position."""
        async with asyncio.timeout(60):
            while (place := find(frame, await self.look())) is None:
                pass
        return place


def find(frame: Frame, screen: Frame) -> tuple[int, int] | None:
    """Return the position (x, y) of `frame` inside `screen`."""
    height, width = frame.shape[:2]
    down, right = screen.shape[0] - height + 1, screen.shape[1] - width + 1
    possible = np.ones((down, right), np.bool_)
    for y in (0, height // 2, height - 1):
        for x in range(0, width, 10):
            possible &= (screen[y : y + down, x : x + right] == frame[y, x]).all(axis=2)
            if not possible.any():
                return None
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
        await asyncio.wait_for(process.wait(), 60)


@contextlib.asynccontextmanager
async def xvfb(screen: str = "640x480x24") -> AsyncIterator[Display]:
    command = ("Xvfb", "-displayfd", "1", "-screen", "0", screen, "-nolisten", "tcp")
    quiet = asyncio.subprocess.DEVNULL
    async with running(*command, stdout=asyncio.subprocess.PIPE, stderr=quiet) as process:
        assert process.stdout is not None
        number = await asyncio.wait_for(process.stdout.readline(), 60)
        yield Display(number.decode().strip())


def vncviewer(
    port: int, passwd: Path, display: Display, *options: str
) -> AbstractAsyncContextManager[asyncio.subprocess.Process]:
    """Run TigerVNC's viewer on `display`."""
    # With a key for its menu, the viewer covers the picture with a hint for five seconds.
    command = ("xtigervncviewer", "-passwd", str(passwd), "-MenuKey=", *options, f"127.0.0.1::{port}")
    quiet = asyncio.subprocess.DEVNULL
    return running(*command, stdout=quiet, stderr=quiet, env=display.env)


def password_file(path: Path, password: str) -> Path:
    """Write a password file in TigerVNC's format."""
    made = subprocess.run(
        ["vncpasswd", "-f"], input=f"{password}\n".encode(), capture_output=True, check=True, timeout=10
    )
    path.write_bytes(made.stdout)
    path.chmod(0o600)
    return path
