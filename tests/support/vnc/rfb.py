"""The server's end of an RFB connection, written by the test: correct or hostile."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from tests.support.network.listeners import stop_accepting
from vnc import fences
from vnc.session import Timeouts

WIDTH, HEIGHT = 8, 6
PIXEL_FORMAT = bytes([32, 24, 0, 1, 0, 255, 0, 255, 0, 255, 16, 8, 0, 0, 0, 0])
VERSIONS = [
    (b"003.003", b"003"), (b"003.004", b"003"), (b"003.005", b"003"), (b"003.006", b"003"), (b"003.007", b"007"),
    (b"003.008", b"008"), (b"003.889", b"008"), (b"004.001", b"008"), (b"005.000", b"008"),
]  # fmt: skip
"""The version that a server offers, and the minor version of the client's answer."""
QUICK = Timeouts(connect=10.0, handshake=10.0, update=10.0, probe_interval=0.2, probe_deadline=0.2, close=1.0)


@dataclass(frozen=True)
class Request:
    incremental: bool
    x: int
    y: int
    width: int
    height: int


class Peer:
    """One connected client, seen from the server."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer
        self.input = b""
        self.shared: int | None = None
        self._fences: list[bytes] = []

    @property
    def has_more(self) -> bool:
        """Whether the client has sent data that is not read yet."""
        return bool(self.reader._buffer)  # type: ignore[attr-defined]

    async def read(self, count: int) -> bytes:
        return await asyncio.wait_for(self.reader.readexactly(count), 60)

    def write(self, data: bytes) -> None:
        self.writer.write(data)

    async def greet(self, version: bytes = b"RFB 003.008\n") -> bytes:
        """Exchange versions; return the client's."""
        self.write(version)
        return await self.read(12)

    async def open(self, width: int = WIDTH, height: int = HEIGHT, name: bytes = b"test") -> None:
        """Run the whole handshake, with security type None."""
        await self.greet()
        self.write(b"\x01\x01")
        assert await self.read(1) == b"\x01"
        self.write(bytes(4))
        await self.init(width, height, name)

    async def init(self, width: int = WIDTH, height: int = HEIGHT, name: bytes = b"test") -> None:
        self.shared = (await self.read(1))[0]
        self.write(struct.pack(">HH", width, height) + PIXEL_FORMAT + struct.pack(">I", len(name)) + name)

    async def request(self) -> Request:
        """Read up to the next FramebufferUpdateRequest; keep the input before it."""
        while (kind := (await self.read(1))[0]) != 3:
            if kind == 0:
                await self.read(19)
            elif kind == 2:
                _, count = struct.unpack(">BH", await self.read(3))
                await self.read(4 * count)
            elif kind == fences.MESSAGE:
                await self._read_fence()
            else:
                self.input += bytes([kind]) + await self.read({4: 7, 5: 5, 0xE7: 7}[kind])
        incremental, *rest = struct.unpack(">BHHHH", await self.read(9))
        return Request(bool(incremental), *rest)

    async def fence_request(self) -> bytes:
        """Read up to the next fence that requests an answer; return its payload."""
        while not self._fences:
            if (kind := (await self.read(1))[0]) == fences.MESSAGE:
                await self._read_fence()
            else:
                assert kind == 3, kind
                await self.read(9)
        return self._fences.pop(0)

    async def _read_fence(self) -> None:
        flags, length = fences.HEAD.unpack(await self.read(fences.HEAD.size))
        payload = await self.read(length)
        if flags & fences.REQUEST:
            self._fences.append(payload)

    def fence(self, flags: int, payload: bytes) -> None:
        self.write(fences.encode(flags, payload))

    def update(self, *rects: bytes) -> None:
        self.write(update(*rects))

    async def idle(self) -> None:
        """Read and discard data until the client disconnects."""
        await self.reader.read()

    async def drip(self, data: bytes, pause: float) -> None:
        """Write single bytes, `pause` seconds apart."""
        for byte in data:
            self.write(bytes([byte]))
            await asyncio.sleep(pause)


def update(*rects: bytes) -> bytes:
    """Return a FramebufferUpdate."""
    return struct.pack(">BxH", 0, len(rects)) + b"".join(rects)


def header(x: int, y: int, width: int, height: int, encoding: int = 0) -> bytes:
    return struct.pack(">HHHHi", x, y, width, height, encoding)


def raw(value: int, x: int = 0, y: int = 0, width: int = WIDTH, height: int = HEIGHT) -> bytes:
    """Return a Raw rect of one grey value."""
    return header(x, y, width, height) + bytes([value, value, value, 0]) * (width * height)


@asynccontextmanager
async def listening(talk: Callable[[Peer], Awaitable[None]]) -> AsyncIterator[int]:
    """Listen, and run `talk` with every client; re-raise its errors, except a lost connection."""
    tasks: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        try:
            await talk(Peer(reader, writer))
        except (
            asyncio.CancelledError
        ):  # the test is over; asyncio's streams log an error when a handler ends as cancelled
            pass
        finally:
            writer.transport.abort()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        await stop_accepting(server)
        server.close()
        for task in tasks:
            task.cancel()
        for result in await asyncio.gather(*tasks, return_exceptions=True):
            if isinstance(result, Exception) and not isinstance(result, EOFError | OSError):
                raise result
