"""From a WebSocket to a VNC server and back; the browser is let in here and never learns the server's password."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

from websockets.asyncio.server import ServerConnection
from websockets.exceptions import ConnectionClosed

from rewarder.errors import CRASHED
from vnc.client.handshake import join
from vnc.errors import ProtocolError, VNCError
from vnc.server.gate import Gate
from vnc.session import Limits, VNCAddress
from vnc.tls import TLS

OPEN_TIMEOUT = 15.0
"""Seconds for both handshakes together."""
PIECE = 64 * 1024
"""Bytes of pixels in one WebSocket frame, at most."""
MAX_WAITING = 256 * 1024
"""Bytes of a viewer that may wait for a screen that does not read."""
GONE, UNSUPPORTED, NOT_RFB = 1001, 1003, 1008

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Screen:
    """A VNC server, and what it lets one in with."""

    host: str
    port: int
    password: str | None = field(default=None, repr=False)
    view_only_password: str | None = field(default=None, repr=False)
    tls: TLS | None = None

    def address(self, *, acting: bool) -> VNCAddress:
        """With the least that will do; where a view-only password is not known, the gate alone stops input."""
        secret = self.password if acting else self.view_only_password or self.password
        return VNCAddress(self.host, self.port, secret, tls=self.tls)


async def bridge(websocket: ServerConnection, screen: Screen, *, acting: bool) -> None:
    """Connect one viewer to `screen` until either leaves.

    Args:
        websocket: the viewer; it speaks RFB in binary frames.
        screen: what it sees.
        acting: whether its keys and pointer get through.
    """
    gate = Gate(acting=acting)
    try:
        async with asyncio.timeout(OPEN_TIMEOUT) as opening, _connected(screen, acting) as (reader, writer):
            await _admit(websocket, gate, writer)
            opening.reschedule(None)
            await _pump(websocket, gate, reader, writer)
    except ConnectionClosed:
        return
    except _Nonsense as error:
        log.warning("viewer ! %s", error)
        await websocket.close(error.code, str(error)[:100])
    except (VNCError, OSError, EOFError) as error:
        log.warning("viewer ! the screen is not reachable: %s", str(error) or type(error).__name__)
        await websocket.close(CRASHED, "the screen is not reachable")


class _Nonsense(Exception):
    """The viewer does not speak RFB."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


@asynccontextmanager
async def _connected(
    screen: Screen, acting: bool
) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    reader, writer = await asyncio.open_connection(screen.host, screen.port)
    try:
        await join(reader, writer, screen.address(acting=acting), Limits())
        yield reader, writer
    finally:
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()


async def _admit(websocket: ServerConnection, gate: Gate, writer: asyncio.StreamWriter) -> None:
    while not gate.opened:
        await websocket.send(gate.data_to_send())
        _forward(writer, _passed(gate, await websocket.recv()))
    # A client that sends everything in one go has answers of ours waiting.
    if last := gate.data_to_send():
        await websocket.send(last)


async def _pump(
    websocket: ServerConnection, gate: Gate, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    pixels = asyncio.create_task(_show(websocket, reader))
    try:
        while True:
            _forward(writer, _passed(gate, await websocket.recv()))
    finally:
        pixels.cancel()
        await asyncio.wait([pixels])
        if not pixels.cancelled() and (error := pixels.exception()) is not None:
            log.debug("viewer = pixels ended: %s", error)


def _forward(writer: asyncio.StreamWriter, data: bytes) -> None:
    """Send to the screen; waiting for it would let what the viewer sends pile up before us.

    Raises:
        ConnectionError: it does not read.
    """
    writer.write(data)
    waiting = writer.transport.get_write_buffer_size()
    if waiting > MAX_WAITING:
        raise ConnectionError(f"it does not read, {waiting} bytes are waiting")


async def _show(websocket: ServerConnection, reader: asyncio.StreamReader) -> None:
    """Carry pixels to the viewer, no faster than it takes them; tell it when there are no more."""
    try:
        while data := await reader.read(PIECE):
            await websocket.send(data)
    except OSError as error:
        log.warning("viewer ! the screen is gone: %s", error)
    await websocket.close(GONE, "the screen is gone")


def _passed(gate: Gate, message: str | bytes) -> bytes:
    if isinstance(message, str):
        raise _Nonsense("a text frame, rfb is binary", UNSUPPORTED)
    try:
        return gate.receive(message)
    except ProtocolError as error:
        raise _Nonsense(str(error), NOT_RFB) from error
