"""A client of Xvnc that wants no pixels: it sends input, which Xvnc translates to the keyboard of its display."""

from __future__ import annotations

import struct
from asyncio import StreamReader, StreamWriter
from collections.abc import Sequence

from vnc.client.handshake import joined
from vnc.encodings import COMPRESSION_LEVELS, DESKTOP_SIZE, RAW
from vnc.errors import ProtocolError
from vnc.events import Event, PointerEvent, encode
from vnc.session import Limits, Timeouts, VNCAddress

BUTTONS = 7
"""The buttons that every version of Xvnc knows: wheels included, back and forward only since TigerVNC 1.15."""
MAX_WAITING = 256 * 1024
"""Unsent bytes of input beyond which Xvnc counts as hanging."""

_CURSOR_WITH_ALPHA = -314
# Without DesktopSize, Xvnc disconnects when its display gets another size. At the lowest compression level, it compares
# no pixels for a client.
_ENCODINGS = (RAW, _CURSOR_WITH_ALPHA, DESKTOP_SIZE, COMPRESSION_LEVELS[0])
_KNOWN = (1 << BUTTONS) - 1
_READ = 4096


def _known(event: Event) -> Event:
    """Leave the buttons out that Xvnc knows in newer versions only; the mirror presses them itself."""
    if isinstance(event, PointerEvent) and event.button_mask > _KNOWN:
        return PointerEvent(event.x, event.y, event.button_mask & _KNOWN)
    return event


class XvncClient:
    """One connection.

    Attributes:
        pointer_shown: whether viewers saw a mouse pointer at the start. There is none until a program sets its shape.
    """

    def __init__(self, reader: StreamReader, writer: StreamWriter) -> None:
        self.pointer_shown = False
        self._reader, self._writer = reader, writer

    @classmethod
    async def connect(cls, address: VNCAddress, pointer: tuple[int, int]) -> XvncClient:
        """Connect, and find out whether there is a pointer, whose position is known.

        Raises:
            VNCError: Xvnc does not accept the connection, or sends something unexpected.
            OSError, EOFError: the connection was lost.
        """
        reader, writer, _ = await joined(address, Limits(), Timeouts())
        client = cls(reader, writer)
        try:
            client.pointer_shown = await client._first_shape(pointer)
        except BaseException:
            client.close()
            raise
        return client

    def send(self, events: Sequence[Event]) -> None:
        """Send input without waiting for Xvnc; `run` ends if it does not read it."""
        self._writer.write(encode(map(_known, events)))
        if self._writer.transport.get_write_buffer_size() > MAX_WAITING:
            self.close()

    async def run(self) -> None:
        """Ignore what Xvnc sends.

        Raises:
            OSError: the connection was lost.
        """
        while await self._reader.read(_READ):
            pass
        raise ConnectionResetError("Xvnc closed the connection")

    def close(self) -> None:
        """Disconnect; idempotent."""
        self._writer.transport.abort()

    async def _first_shape(self, pointer: tuple[int, int]) -> bool:
        """Request one pixel, with which Xvnc sends the shape of the pointer; return whether any of it is visible."""
        # Xvnc sends a client the shape if that client moved the pointer last, here to where it is.
        self.send([PointerEvent(*pointer, 0)])
        self._writer.write(struct.pack(f">BxH{len(_ENCODINGS)}i", 2, len(_ENCODINGS), *_ENCODINGS))
        self._writer.write(struct.pack(">BBHHHH", 3, False, 0, 0, 1, 1))
        kind, count = struct.unpack(">BxH", await self._reader.readexactly(4))
        for _ in range(count if kind == 0 else 0):
            *_, width, height, encoding = struct.unpack(">HHHHi", await self._reader.readexactly(12))
            if encoding == _CURSOR_WITH_ALPHA:
                await self._reader.readexactly(4)  # the encoding of the shape, always Raw
                shape = await self._reader.readexactly(width * height * 4)
                return any(shape[3::4])
            await self._reader.readexactly(width * height * 4 if encoding == RAW else 0)
        raise ProtocolError("Xvnc does not send the shape of the pointer")
