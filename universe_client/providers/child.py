"""Processes that an agent starts: their streams, their last words, and their end."""

from __future__ import annotations

import asyncio
import socket
from collections import deque
from collections.abc import AsyncIterator
from contextlib import ExitStack, suppress
from typing import Protocol

from rewarder.sanitize import clean

_LINES = 20
_STOP_TIMEOUT = 5.0


class Running(Protocol):
    """A process that was started; `asyncio.subprocess.Process` is one."""

    @property
    def pid(self) -> int:
        """Its id."""
        ...

    @property
    def returncode(self) -> int | None:
        """Its exit status, or the negative number of the signal that ended it; None while it runs."""
        ...

    async def wait(self) -> int:
        """Wait for its end; return the status."""
        ...

    def kill(self) -> None:
        """Send SIGKILL."""
        ...


class Stdin(Protocol):
    """The stdin of a process."""

    def write(self, data: bytes) -> object:
        """Write without waiting."""
        ...

    def close(self) -> object:
        """End it."""
        ...


class LastWords:
    """Reads the stderr of a process until its end, and keeps the last 20 lines.

    Args:
        stderr: its lines.
    """

    def __init__(self, stderr: AsyncIterator[bytes]) -> None:
        self._lines: deque[str] = deque(maxlen=_LINES)
        self._reader = asyncio.create_task(self._read(stderr))

    def __str__(self) -> str:
        """Return the lines, each on a line of its own."""
        return "its last words:" + ("".join(f"\n    {line}" for line in self._lines) or " none")

    async def complete(self, seconds: float | None = None) -> None:
        """Wait until the process has closed its stderr, or for so many seconds."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await asyncio.shield(self._reader)

    async def _read(self, stderr: AsyncIterator[bytes]) -> None:
        async for line in stderr:
            self._lines.append(clean(line.decode("utf-8", "replace").rstrip()))


def socket_pair(ours: ExitStack, theirs: ExitStack) -> tuple[socket.socket, socket.socket]:
    """Return two connected sockets, each of which is closed with its stack."""
    own, other = socket.socketpair()
    return ours.enter_context(own), theirs.enter_context(other)


async def connect(end: socket.socket) -> tuple[asyncio.StreamReader, asyncio.Transport]:
    """Return a reader and the transport of a socket.

    There is no `StreamWriter`: at the end of a fork of this process, its `__del__` would remove the socket from the
    selector, which the fork shares with this process.
    """
    reader = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    transport, _ = await loop.create_connection(lambda: asyncio.StreamReaderProtocol(reader), sock=end)
    return reader, transport


async def lines(end: socket.socket) -> AsyncIterator[bytes]:
    """Yield the lines that arrive on a socket until its end, and close it."""
    reader, transport = await connect(end)
    async for line in reader:
        yield line
    transport.close()


async def end(process: Running) -> None:
    """Wait for the end of a process that was told to end; kill it if it does not within 5 s."""
    try:
        async with asyncio.timeout(_STOP_TIMEOUT):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()
