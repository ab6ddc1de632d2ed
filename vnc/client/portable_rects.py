"""What the portable driver lets asyncvnc's decoder read: rects in bands of rows, inflated no further than that."""

from __future__ import annotations

import struct
import zlib
from typing import TYPE_CHECKING

from vnc.client.portable_reader import Stream
from vnc.encodings import RAW, ZLIB
from vnc.errors import LimitExceeded

if TYPE_CHECKING:
    import asyncvnc

RECT = struct.Struct(">HHHHi")  # RFC 6143 7.6.1
_BAND = 1 << 20  # bytes of pixels that are read, or inflated, at once
_PIECE = 64 * 1024  # bytes of a compressed rect that are read at once


class RectReader:
    """Hands asyncvnc's decoder what it takes for a stream: each rect as Raw rects of some of its rows."""

    def __init__(self, reader: Stream) -> None:
        self._reader = reader
        self._zlib = zlib.decompressobj()
        self._left = 0  # bytes of a compressed rect that have not been read
        self._header = self._pixels = b""

    async def draw(self, video: asyncvnc.Video, header: bytes) -> int:
        """Read the payload of the rect with this header, and have `video` draw it; return its length in bytes.

        Raises:
            LimitExceeded: it announces more than its pixels can need.
            zlib.error, ValueError: its data are broken, or not as much as its pixels need.
        """
        x, y, width, height, encoding = RECT.unpack(header)
        row, total = 4 * width, 4 * width * height
        length = await self._begin(total) if encoding == ZLIB else total
        rows = max(_BAND // max(row, 1), 1)
        for top in range(0, height, rows):
            count = min(rows, height - top)
            self._header = RECT.pack(x, y + top, width, count, RAW)
            if encoding == ZLIB:
                self._pixels = await self._inflate(row * count, row * top, total)
            else:
                self._pixels = await self._reader.readexactly(row * count)
            await video.read()
        if encoding == ZLIB:
            await self._finish()
        self._pixels = b""
        return length

    async def readexactly(self, length: int) -> bytes:
        """Return the next part of the header, then all the pixels."""
        if self._header:
            head, self._header = self._header[:length], self._header[length:]
            return head
        return self._pixels

    async def _begin(self, total: int) -> int:
        """Read the length of a Zlib rect (rfbproto 7.7.9)."""
        self._left = int.from_bytes(await self._reader.readexactly(4), "big")
        most = 2 * total + 64 * 1024
        if self._left > most:
            raise LimitExceeded(f"offset 4: {self._left} bytes announced, at most {most} make sense")
        return 4 + self._left

    async def _more(self) -> bytes:
        """Return compressed bytes that zlib has not seen."""
        if self._zlib.unconsumed_tail:
            return self._zlib.unconsumed_tail
        data = await self._reader.readexactly(min(self._left, _PIECE))
        self._left -= len(data)
        return data

    async def _inflate(self, size: int, before: int, total: int) -> bytes:
        pixels = bytearray()
        while len(pixels) < size:
            data = await self._more()
            piece = self._zlib.decompress(data, size - len(pixels))
            if not piece and not data:
                raise ValueError(f"{before + len(pixels)} bytes of data, {total} needed")
            pixels += piece
        return bytes(pixels)

    async def _finish(self) -> None:
        """Read what is left of a Zlib rect, which must give nothing more."""
        while True:
            data = await self._more()
            if self._zlib.decompress(data, 1):
                raise ValueError("data after the last pixel")
            if not data:
                return
