"""Connect a browser's WebSocket to a VNC server. The browser does not receive the server's password."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

from websockets.asyncio.server import ServerConnection
from websockets.exceptions import ConnectionClosed

from rewarder.errors import CRASHED
from vnc.client.handshake import join
from vnc.errors import ProtocolError, VNCError
from vnc.events import Event
from vnc.server.gate import Gate
from vnc.server.input import ClientInput
from vnc.session import Limits, VNCAddress
from vnc.tls import TLS

OPEN_TIMEOUT = 15.0
"""Seconds for the RFB handshakes with the browser and the server together."""
PIECE = 64 * 1024
"""Largest WebSocket frame of pixels, in bytes."""
MAX_WAITING = 256 * 1024
"""Unsent bytes of a viewer's input beyond which the server counts as hanging."""
_ANYWHERE = 1 << 16  # pixels: the size of the screen is not known here
GONE, UNSUPPORTED, NOT_RFB = 1001, 1003, 1008

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Screen:
    """The address of a VNC server, and its passwords."""

    host: str
    port: int
    password: str | None = field(default=None, repr=False)
    view_only_password: str | None = field(default=None, repr=False)
    tls: TLS | None = None

    def address(self, *, acting: bool) -> VNCAddress:
        """Return the address with the least powerful password. Without a view-only one, only the gate stops input."""
        secret = self.password if acting else self.view_only_password or self.password
        return VNCAddress(self.host, self.port, secret, tls=self.tls)


async def bridge(
    websocket: ServerConnection,
    screen: Screen,
    *,
    acting: bool,
    on_input: Callable[[Sequence[Event]], object] | None = None,
) -> None:
    """Connect one viewer to `screen` until either disconnects.

    Args:
        websocket: the viewer, which sends RFB in binary frames.
        screen: the VNC server.
        acting: whether to forward the viewer's keyboard and pointer.
        on_input: called with what is forwarded of them, and at the end with the releases of what was held, which the
            VNC server adds.
    """
    gate = Gate(acting=acting)
    try:
        async with asyncio.timeout(OPEN_TIMEOUT) as opening, _connected(screen, acting) as (reader, writer):
            await _admit(websocket, gate, writer)
            opening.reschedule(None)
            await _pump(websocket, gate, reader, writer, on_input)
    except ConnectionClosed:
        return
    except _NotRFB as error:
        log.warning("viewer ! %s", error)
        await websocket.close(error.code, str(error)[:100])
    except (VNCError, OSError, EOFError) as error:
        log.warning("viewer ! the screen is not reachable: %s", str(error) or type(error).__name__)
        await websocket.close(CRASHED, "the screen is not reachable")


class _NotRFB(Exception):
    """The viewer sent data that is not RFB."""

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
    # If the client sent its whole handshake at once, the last answers are still unsent.
    if last := gate.data_to_send():
        await websocket.send(last)


async def _pump(
    websocket: ServerConnection,
    gate: Gate,
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    on_input: Callable[[Sequence[Event]], object] | None,
) -> None:
    pixels = asyncio.create_task(_show(websocket, reader))
    held = ClientInput(_ANYWHERE, _ANYWHERE)
    try:
        while True:
            _forward(writer, _passed(gate, await websocket.recv()))
            if on_input is not None:
                on_input(held.accept(gate.events))
    finally:
        if on_input is not None:
            on_input(held.release())
        pixels.cancel()
        await asyncio.wait([pixels])
        if not pixels.cancelled() and (error := pixels.exception()) is not None:
            log.debug("viewer = pixels ended: %s", error)


def _forward(writer: asyncio.StreamWriter, data: bytes) -> None:
    """Send to the VNC server without waiting for it.

    Raises:
        ConnectionError: the server does not read.
    """
    writer.write(data)
    waiting = writer.transport.get_write_buffer_size()
    if waiting > MAX_WAITING:
        raise ConnectionError(f"the vnc server does not read, {waiting} bytes are unsent")


async def _show(websocket: ServerConnection, reader: asyncio.StreamReader) -> None:
    """Send pixels to the viewer at its speed; close its connection when the VNC server closes."""
    try:
        while data := await reader.read(PIECE):
            await websocket.send(data)
    except OSError as error:
        log.warning("viewer ! the connection to the vnc server is lost: %s", error)
    await websocket.close(GONE, "the screen has disconnected")


def _passed(gate: Gate, message: str | bytes) -> bytes:
    if isinstance(message, str):
        raise _NotRFB("text frame, rfb needs binary frames", UNSUPPORTED)
    try:
        return gate.receive(message)
    except ProtocolError as error:
        raise _NotRFB(str(error), NOT_RFB) from error
