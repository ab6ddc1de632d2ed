"""What the portable driver reads, in turns with the rest of the event loop."""

from __future__ import annotations

import asyncio
import time
from asyncio import StreamReader

_PIECE = 64 * 1024  # bytes read ahead at most
_TURN = 0.005  # seconds: a stream of asyncio's that has bytes to give would give them without ever yielding


class Stream:
    """The bytes of one connection. Reading them yields to the event loop every few milliseconds."""

    def __init__(self, reader: StreamReader) -> None:
        self._reader = reader
        self._ahead, self._at = b"", 0
        self._turn = time.monotonic()

    @property
    def has_more(self) -> bool:
        """Whether there is something to read now."""
        return self._at < len(self._ahead)

    async def wait(self) -> None:
        """Wait until there is; nothing is lost when the waiting is given up.

        Raises:
            EOFError: the connection has ended.
        """
        if not self.has_more:
            self._ahead, self._at = await self._reader.read(_PIECE), 0
            if not self._ahead:
                raise EOFError

    def skip(self, byte: bytes) -> None:
        """Read over all of this byte that comes next and is there already."""
        rest = self._ahead[self._at :].lstrip(byte)
        self._at = len(self._ahead) - len(rest)

    async def readexactly(self, length: int) -> bytes:
        """Read so many bytes.

        Raises:
            EOFError: the connection ends before.
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
