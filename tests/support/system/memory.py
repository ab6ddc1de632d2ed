"""Shared frames of a server that the test writes: the memory, the offer, and the socket that gives the memory."""

from __future__ import annotations

import asyncio
import fcntl
import mmap
import os
import socket
import struct
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from tests.support.vnc.rfb import HEIGHT, WIDTH, Peer, header, raw
from vnc.encodings import SHARED_FRAMES, SHARED_OFFER
from vnc.session import Frame

TOKEN = bytes(range(100, 116))
READY = bytes([0xE7, 0, 0, 0, 0, 0, 0, 0])
F_SEAL_FUTURE_WRITE = 0x10
SEALS = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | F_SEAL_FUTURE_WRITE | fcntl.F_SEAL_SEAL


@dataclass(frozen=True)
class Layout:
    """What the header says; by default frames of the scripted server's screen, with gaps everywhere."""

    magic: bytes = b"UCSF"
    version: int = 1
    buffers: int = 3
    width: int = WIDTH
    height: int = HEIGHT
    stride: int = WIDTH * 3 + 8
    offset: int = 64
    distance: int = 4096

    def encode(self) -> bytes:
        return struct.pack(
            ">4sHHIIIIQ", self.magic, self.version, self.buffers,
            self.width, self.height, self.stride, self.offset, self.distance,
        )  # fmt: skip

    @property
    def size(self) -> int:
        return self.offset + (self.buffers - 1) * self.distance + self.stride * self.height


class Memory:
    """A memfd with frames."""

    def __init__(self, layout: Layout = Layout(), seals: int = SEALS) -> None:
        self.layout = layout
        self.descriptor = os.memfd_create("frames", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.truncate(self.descriptor, layout.size)
        self._bytes = np.frombuffer(mmap.mmap(self.descriptor, layout.size), np.uint8)
        if seals:
            fcntl.fcntl(self.descriptor, fcntl.F_ADD_SEALS, seals)

    def frame(self, buffer: int) -> Frame:
        """Return the pixels of a buffer, to be drawn on."""
        layout = self.layout
        start = layout.offset + buffer * layout.distance
        rows = self._bytes[start : start + layout.stride * layout.height].reshape(layout.height, -1)
        return rows[:, : layout.width * 3].reshape(layout.height, layout.width, 3)

    def close(self) -> None:
        os.close(self.descriptor)


Give = Callable[[socket.socket, Memory], None]
"""Answers a client of the socket that has sent its token."""


def give(client: socket.socket, memory: Memory) -> None:
    """Send the memory, as a server does."""
    socket.send_fds(client, [memory.layout.encode()], [memory.descriptor])


def given(*descriptors: int, **layout: object) -> Give:
    """Return an answer with another layout, and with these descriptors in place of the memory's."""

    def answer(client: socket.socket, memory: Memory) -> None:
        told = replace(memory.layout, **layout).encode()
        socket.send_fds(client, [told], descriptors or [memory.descriptor])

    return answer


@asynccontextmanager
async def giving(path: Path, memory: Memory, answer: Give = give) -> AsyncIterator[list[bytes]]:
    """Listen on a Unix socket, and answer each client; yield the list of the tokens that clients have sent."""
    loop, tokens = asyncio.get_running_loop(), list[bytes]()

    async def serve() -> None:
        while True:
            client, _ = await loop.sock_accept(listener)
            with client:
                tokens.append(await loop.sock_recv(client, 100))
                answer(client, memory)

    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.setblocking(False)
        listener.bind(str(path))
        listener.listen()
        task = asyncio.create_task(serve())
        try:
            yield tokens
        finally:
            task.cancel()
            await asyncio.wait([task])


def offer(path: Path | bytes, version: int = 1, token: bytes = TOKEN) -> bytes:
    """Return the rect that offers shared frames."""
    name = os.fsencode(path)
    return header(0, 0, 0, 0, SHARED_OFFER) + struct.pack(">B16sH", version, token, len(name)) + name


def shared(buffer: int, x: int = 0, y: int = 0, width: int = WIDTH, height: int = HEIGHT) -> bytes:
    """Return a rect whose pixels are in a buffer."""
    return header(x, y, width, height, SHARED_FRAMES) + struct.pack(">I", buffer)


def release(buffer: int) -> bytes:
    return bytes([0xE7, 1, 0, 0]) + struct.pack(">I", buffer)


async def agree(peer: Peer, path: Path) -> None:
    """Send the offer and a first frame, and read until the client is ready."""
    peer.update(offer(path))
    await peer.request()
    peer.update(raw(1))
    while READY not in peer.input:
        await peer.request()
        peer.update(raw(1, 0, 0, 1, 1))
    await peer.request()
    peer.input = b""


# -- fixtures of the tests of this driver


@pytest.fixture
def driver() -> str:
    return "native"


@pytest.fixture
def memory() -> Memory:
    return Memory()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "frames"
