"""The rectangles that asyncvnc's decoder reads: in bands of rows, inflated one band at a time."""

from __future__ import annotations

import struct
import zlib
from asyncio import StreamWriter
from typing import TYPE_CHECKING

import numpy as np

from vnc.client.handshake import ServerInit
from vnc.client.portable_reader import Stream
from vnc.encodings import RAW, ZLIB
from vnc.errors import LimitExceeded, ProtocolError

if TYPE_CHECKING:
    import asyncvnc

RECT = struct.Struct(">HHHHi")  # RFC 6143 7.6.1
_BAND = 1 << 20  # bytes of pixels per band
_PIECE = 64 * 1024  # compressed bytes per read


class RectReader:
    """A stream for asyncvnc's decoder that presents each rectangle as Raw rectangles of some of its rows."""

    def __init__(self, reader: Stream) -> None:
        self._reader = reader
        self._zlib = zlib.decompressobj()
        self._left = 0  # bytes of a compressed rectangle that were not read yet
        self._header = self._pixels = b""

    async def draw(self, video: asyncvnc.Video, header: bytes) -> int:
        """Read the payload of the rectangle with this header and draw it on `video`; return its length in bytes.

        Raises:
            LimitExceeded: the payload announces more bytes than its pixels can need.
            zlib.error, ValueError: the data are broken, or too short or too long for the pixels.
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

    async def draw_named(self, video: asyncvnc.Video, header: bytes, what: str) -> int:
        """As `draw`; the errors begin with `what`.

        Raises:
            LimitExceeded, ProtocolError: see `draw`.
        """
        try:
            return await self.draw(video, header)
        except LimitExceeded as error:
            raise LimitExceeded(f"{what}, {error}") from None
        except zlib.error as error:
            raise ProtocolError(f"{what}, offset 4: broken zlib stream") from error
        except (TypeError, ValueError) as error:
            raise ProtocolError(f"{what}, offset 4: {error}") from error

    async def readexactly(self, length: int) -> bytes:
        """Return the next part of the header, or all pixels after it."""
        if self._header:
            head, self._header = self._header[:length], self._header[length:]
            return head
        return self._pixels

    async def _begin(self, total: int) -> int:
        """Read the length of a Zlib rect (rfbproto 7.7.9)."""
        self._left = int.from_bytes(await self._reader.readexactly(4), "big")
        most = 2 * total + 64 * 1024
        if self._left > most:
            raise LimitExceeded(f"offset 4: {self._left} bytes announced, the limit is {most}")
        return 4 + self._left

    async def _more(self) -> bytes:
        """Return compressed bytes that zlib has not consumed."""
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
        """Read the remaining bytes of a Zlib rectangle, which must contain no more pixels."""
        while True:
            data = await self._more()
            if self._zlib.decompress(data, 1):
                raise ValueError("data after the last pixel")
            if not data:
                return


def decoder(rects: RectReader, writer: StreamWriter, init: ServerInit) -> asyncvnc.Video:
    """Return asyncvnc's decoder of what `rects` reads, with a black screen."""
    import asyncvnc  # GPL-3: loaded only when this driver is used

    video = asyncvnc.Video(rects, writer, None, init.name, init.width, init.height, "rgba")
    video.data = np.zeros((init.height, init.width, 4), np.uint8)
    return video
