"""The input stream of the portable driver, which yields to the event loop."""

from __future__ import annotations

import asyncio
import time
from asyncio import StreamReader

_PIECE = 64 * 1024  # bytes read ahead at most
_TURN = 0.005  # seconds; an asyncio stream with buffered bytes returns them without yielding


class Stream:
    """The bytes of one connection. Reading them yields to the event loop every few milliseconds."""

    def __init__(self, reader: StreamReader) -> None:
        self._reader = reader
        self._ahead, self._at = b"", 0
        self._turn = time.monotonic()

    @property
    def has_more(self) -> bool:
        """Whether bytes can be read without waiting."""
        return self._at < len(self._ahead)

    async def wait(self) -> None:
        """Wait for bytes; a cancelled wait loses none.

        Raises:
            EOFError: the connection has ended.
        """
        if not self.has_more:
            self._ahead, self._at = await self._reader.read(_PIECE), 0
            if not self._ahead:
                raise EOFError

    def skip(self, byte: bytes) -> None:
        """Skip the buffered bytes up to the first that is not `byte`."""
        rest = self._ahead[self._at :].lstrip(byte)
        self._at = len(self._ahead) - len(rest)

    async def readexactly(self, length: int) -> bytes:
        """Read `length` bytes.

        Raises:
            EOFError: the connection ended before.
        """
        if time.monotonic() - self._turn > _TURN:
            await asyncio.sleep(0)
            self._turn = time.monotonic()
        start, self._at = self._at, self._at + length
        data = self._ahead[start : self._at]
        if len(data) < length:
            self._ahead, self._at = b"", 0
            data += await self._reader.readexactly(length - len(data))
        return data
