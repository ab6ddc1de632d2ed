"""A client of shared frames whose every step the test chooses."""

from __future__ import annotations

import asyncio
import mmap
import os
import socket
import struct

import numpy as np
from numpy.typing import NDArray

from tests.vnc.rfb_client import RFBClient
from vnc.encodings import RAW, SHARED_FRAMES, SHARED_OFFER

HEADER = struct.Struct(">4sHHIIIIQ")


def knock(path: str) -> socket.socket:
    """Connect to the socket of an offer."""
    visitor = socket.socket(socket.AF_UNIX)
    visitor.settimeout(30)
    visitor.connect(path)
    return visitor


def ask(path: str, token: bytes) -> tuple[bytes, list[int]]:
    """Show a token; return the answer and its descriptors."""
    with knock(path) as visitor:
        try:
            visitor.sendall(token)
            answer, descriptors, _, _ = socket.recv_fds(visitor, 1024, 8)
        except (BrokenPipeError, ConnectionResetError):
            return b"", []
        return answer, descriptors


class SharedClient:
    """`offered`, `fetch`, `map`, `ready`, `update`, `release`: the steps in their proper order."""

    def __init__(self, vnc: RFBClient) -> None:
        self.vnc = vnc
        self.token, self.path = b"", ""
        self.memory: mmap.mmap

    @classmethod
    async def ready_on(cls, port: int) -> SharedClient:
        client = cls(await RFBClient.connect(port))
        await client.offered()
        client.map(*await client.fetch())
        client.ready()
        return client

    async def offered(self) -> None:
        self.vnc.set_encodings(SHARED_FRAMES, RAW)
        (rect,) = await self.vnc.update()
        assert (*vars(rect).values(),)[:5] == (0, 0, 0, 0, SHARED_OFFER)
        version, self.token, length = struct.unpack(">B16sH", rect.payload[:19])
        self.path = rect.payload[19:].decode()
        assert (version, length) == (1, len(self.path)) and length <= 107

    async def fetch(self) -> tuple[bytes, int]:
        answer, (descriptor,) = await asyncio.to_thread(ask, self.path, self.token)
        return answer, descriptor

    def map(self, header: bytes, descriptor: int) -> None:
        magic, version, self.buffers, self.width, self.height, self.stride, self.offset, self.distance = (
            HEADER.unpack(header)
        )
        assert (magic, version) == (b"UCSF", 1)
        self.memory = mmap.mmap(descriptor, 0, prot=mmap.PROT_READ)
        os.close(descriptor)

    def say(self, verb: int, number: int = 0) -> None:
        self.vnc.writer.write(struct.pack(">BBxxI", 0xE7, verb, number))

    def ready(self) -> None:
        self.say(0)

    def release(self, number: int) -> None:
        self.say(1, number)

    def frame(self, number: int) -> NDArray[np.uint8]:
        """A view of a buffer."""
        assert number < self.buffers
        rows: NDArray[np.uint8] = np.ndarray(
            (self.height, self.width, 3),
            np.uint8,
            buffer=self.memory,
            offset=self.offset + number * self.distance,
            strides=(self.stride, 3, 1),
        )
        return rows

    async def held(self) -> int:
        """Request the whole screen, and return the number of the buffer that it is in."""
        self.vnc.request(False)
        rects = await self.vnc.update()
        assert {rect.encoding for rect in rects} == {SHARED_FRAMES}
        (number,) = {int.from_bytes(rect.payload, "big") for rect in rects}
        return number
