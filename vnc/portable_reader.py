"""What the portable driver lets asyncvnc's decoder read."""

from __future__ import annotations

from asyncio import StreamReader

from vnc.errors import LimitExceeded


class RectReader:
    """Hands asyncvnc's decoder the rect header that was read ahead to be checked, then the stream."""

    def __init__(self, reader: StreamReader) -> None:
        self._reader = reader
        self._header = b""
        self._limit = 0

    def start(self, header: bytes, limit: int) -> None:
        """Begin a rect whose payload may come in pieces of at most `limit` bytes."""
        self._header, self._limit = header, limit

    async def readexactly(self, length: int) -> bytes:
        """Read as of a stream.

        Raises:
            LimitExceeded: more than the limit is to come in one piece.
        """
        if self._header:
            head, self._header = self._header[:length], self._header[length:]
            return head
        if length > self._limit:
            raise LimitExceeded(f"offset 4: {length} bytes announced, at most {self._limit} make sense")
        return await self._reader.readexactly(length)
