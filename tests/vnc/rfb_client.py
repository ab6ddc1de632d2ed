"""A tiny RFB client that shows the tests every byte, and plain decoders that share nothing with the server."""

from __future__ import annotations

import asyncio
import struct
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from vnc import encodings
from vnc.vncauth import challenge_response

VERSION_8 = b"RFB 003.008\n"
WHOLE = (0, 0, 65535, 65535)


@dataclass
class Rectangle:
    x: int
    y: int
    width: int
    height: int
    encoding: int
    payload: bytes


class Refused(Exception):
    """The server refused, for the reason given."""


class RFBClient:
    """Knows the lengths of Raw, ZRLE and shared rects, with `pixel_bytes` a pixel."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer
        self.pixel_bytes = 4
        self.width = self.height = 0
        self.name = b""

    @classmethod
    async def open(cls, port: int) -> RFBClient:
        return cls(*await asyncio.open_connection("127.0.0.1", port, limit=2**23))

    @classmethod
    async def connect(cls, port: int, password: str | None = None, version: bytes = VERSION_8) -> RFBClient:
        client = await cls.open(port)
        try:
            await client.handshake(password, version)
        except (Refused, OSError, asyncio.IncompleteReadError):
            client.writer.transport.abort()
            raise
        return client

    async def handshake(self, password: str | None, version: bytes) -> None:
        assert await self.read(12) == VERSION_8
        self.writer.write(version)
        minor = int(version[8:11]) if version in (b"RFB 003.007\n", VERSION_8) else 3
        security = await (self._choose() if minor >= 7 else self._told())
        if security == 2:
            assert password is not None
            self.writer.write(challenge_response(await self.read(16), password))
        if (security == 2 or minor >= 8) and await self.integer(4) != 0:
            raise Refused((await self.text()).decode() if minor >= 8 else "")
        self.writer.write(b"\1")
        self.width, self.height = await self.integer(2), await self.integer(2)
        self.server_format = await self.read(16)
        self.name = await self.text()

    async def _told(self) -> int:
        security = await self.integer(4)
        if security == 0:
            raise Refused((await self.text()).decode())
        return security

    async def _choose(self) -> int:
        offered = await self.read(await self.integer(1))
        if not offered:
            raise Refused((await self.text()).decode())
        self.writer.write(offered[:1])
        return offered[0]

    async def read(self, count: int) -> bytes:
        return await asyncio.wait_for(self.reader.readexactly(count), 60)

    async def integer(self, size: int) -> int:
        return int.from_bytes(await self.read(size), "big")

    async def text(self) -> bytes:
        return await self.read(await self.integer(4))

    def request(self, incremental: bool, region: tuple[int, int, int, int] = WHOLE) -> None:
        self.writer.write(struct.pack(">BBHHHH", 3, incremental, *region))

    def set_encodings(self, *encodings: int) -> None:
        self.writer.write(struct.pack(f">BxH{len(encodings)}i", 2, len(encodings), *encodings))

    def set_format(self, wire: bytes) -> None:
        self.writer.write(b"\0\0\0\0" + wire)
        self.pixel_bytes = wire[0] // 8

    async def update(self) -> list[Rectangle]:
        """Read one FramebufferUpdate."""
        kind, count = struct.unpack(">BxH", await self.read(4))
        assert kind == 0
        return [await self._rectangle() for _ in range(count)]

    async def _rectangle(self) -> Rectangle:
        x, y, width, height, encoding = struct.unpack(">HHHHi", await self.read(12))
        match encoding:
            case 0:
                payload = await self.read(width * height * self.pixel_bytes)
            case encodings.SHARED_FRAMES:
                payload = await self.read(4)
            case encodings.SHARED_OFFER:
                head = await self.read(19)
                payload = head + await self.read(int.from_bytes(head[17:], "big"))
            case _:
                payload = await self.text()
        return Rectangle(x, y, width, height, encoding, payload)

    async def silent(self) -> bool:
        """Whether the next update is the answer to a request for one pixel, no more than its tile."""
        self.request(False, (0, 0, 1, 1))
        rectangles = await self.update()
        return [(r.x, r.y) for r in rectangles] == [(0, 0)] and rectangles[0].width <= 16

    async def ended(self) -> bool:
        """Read until the server hangs up."""
        try:
            while await asyncio.wait_for(self.reader.read(65536), 60):
                pass
        except ConnectionResetError:
            pass
        return True


Pixels = list[list[bytes]]
"""Rows of pixels as bytes."""


def _split(data: bytes, size: int) -> list[bytes]:
    return [data[at : at + size] for at in range(0, len(data), size)]


def _unpack_bits(row: bytes, bits: int, width: int) -> list[int]:
    mask = (1 << bits) - 1
    return [row[x * bits // 8] >> (8 - bits - x * bits % 8) & mask for x in range(width)]


class ZRLEDecoder:
    """RFC 6143 section 7.7.6."""

    def __init__(self, pixel_bytes: int) -> None:
        self.size = pixel_bytes
        self.stream = zlib.decompressobj()
        self.sub_encodings: set[int] = set()

    def decode(self, payload: bytes, width: int, height: int) -> Pixels:
        """`payload` is without its length."""
        self.data, self.at = self.stream.decompress(payload), 0
        rows: Pixels = [[b""] * width for _ in range(height)]
        for y in range(0, height, 64):
            for x in range(0, width, 64):
                tile_width, tile_height = min(64, width - x), min(64, height - y)
                tile = self._tile(tile_width, tile_height)
                assert len(tile) == tile_width * tile_height
                for row in range(tile_height):
                    rows[y + row][x : x + tile_width] = tile[row * tile_width : (row + 1) * tile_width]
        assert self.at == len(self.data)
        return rows

    def _take(self, count: int) -> bytes:
        data = self.data[self.at : self.at + count]
        assert len(data) == count
        self.at += count
        return data

    def _length(self) -> int:
        length = 1
        while (byte := self._take(1)[0]) == 255:
            length += 255
        return length + byte

    def _tile(self, width: int, height: int) -> list[bytes]:
        kind = self._take(1)[0]
        self.sub_encodings.add(kind)
        if kind == 0:
            return _split(self._take(width * height * self.size), self.size)
        if kind == 128:
            return list(self._runs(width * height))
        assert kind <= 16 or kind >= 130
        palette = _split(self._take((kind & 127) * self.size), self.size)
        if kind == 1:
            return palette * (width * height)
        if kind > 128:
            return list(self._palette_runs(palette, width * height))
        bits = 1 if kind == 2 else 2 if kind <= 4 else 4
        rows = (self._take((width * bits + 7) // 8) for _ in range(height))
        return [palette[index] for row in rows for index in _unpack_bits(row, bits, width)]

    def _runs(self, count: int) -> Iterator[bytes]:
        while count > 0:
            pixel, length = self._take(self.size), self._length()
            count -= length
            yield from [pixel] * length

    def _palette_runs(self, palette: Sequence[bytes], count: int) -> Iterator[bytes]:
        while count > 0:
            index = self._take(1)[0]
            length = self._length() if index & 128 else 1
            count -= length
            yield from [palette[index & 127]] * length


class TightDecoder:
    """rfbproto, "Tight Encoding": fill and basic compression."""

    def __init__(self, pixel_bytes: int) -> None:
        self.size = pixel_bytes
        self.streams = [zlib.decompressobj() for _ in range(4)]
        self.kinds: set[str] = set()

    def decode(self, payload: bytes, width: int, height: int) -> Pixels:
        self.data, self.at = payload, 0
        control = self._take(1)[0]
        assert control & 0x0F == 0, "no stream is ever reset"
        if control >> 4 == 8:
            pixels = [self._take(self.size)] * (width * height)
            self.kinds.add("fill")
        else:
            assert control >> 7 == 0
            pixels = self._basic(control, width, height)
        assert self.at == len(self.data)
        return [pixels[row * width : (row + 1) * width] for row in range(height)]

    def _take(self, count: int) -> bytes:
        data = self.data[self.at : self.at + count]
        assert len(data) == count
        self.at += count
        return data

    def _basic(self, control: int, width: int, height: int) -> list[bytes]:
        stream = self.streams[control >> 4 & 3]
        filter_id = self._take(1)[0] if control & 0x40 else 0
        if filter_id == 0:
            self.kinds.add("copy")
            return _split(self._inflate(stream, width * height * self.size), self.size)
        assert filter_id == 1
        palette = _split(self._take((self._take(1)[0] + 1) * self.size), self.size)
        if len(palette) == 2:
            self.kinds.add("mono")
            rows = _split(self._inflate(stream, (width + 7) // 8 * height), (width + 7) // 8)
            return [palette[bit] for row in rows for bit in _unpack_bits(row, 1, width)]
        self.kinds.add("palette")
        return [palette[index] for index in self._inflate(stream, width * height)]

    def _inflate(self, stream: zlib._Decompress, size: int) -> bytes:
        if size < 12:
            return self._take(size)
        length = shift = 0
        for place in range(3):
            byte = self._take(1)[0]
            length |= (byte & 0x7F if place < 2 else byte) << shift
            shift += 7
            if not byte & 0x80:
                break
        data = stream.decompress(self._take(length))
        assert len(data) == size
        return data
