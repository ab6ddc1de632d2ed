"""Recording of VNC sessions, as a client of the server or as a proxy between a client and the server."""

from __future__ import annotations

import asyncio
import struct
import time
from asyncio import StreamReader, StreamWriter
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from vnc.capture.capture import MAX_BYTES, CaptureHeader, CaptureWriter
from vnc.capture.scan import FRAMEBUFFER_UPDATE, PIXEL_ENCODINGS, Scanner
from vnc.client.handshake import ServerInit, joined
from vnc.encodings import (
    COMPRESSION_LEVELS,
    COPY_RECT,
    CURSOR,
    DESKTOP_SIZE,
    HEXTILE,
    LAST_RECT,
    QUALITIES,
    RAW,
    TIGHT,
    X_CURSOR,
    ZRLE,
)  # fmt: skip
from vnc.errors import AuthError, PeerLost, ProtocolError
from vnc.events import KeyEvent, PointerEvent, encode
from vnc.pixels.pixel_format import RGBX, PixelFormat
from vnc.server.framebuffer.damage import Rect
from vnc.server.protocol import Message, ServerProtocol, SetEncodings, SetPixelFormat, UpdateRequest
from vnc.session import Limits, Timeouts, VNCAddress
from vnc.vncauth import Passwords

DEFAULT_ENCODINGS = (TIGHT, ZRLE, HEXTILE, COPY_RECT, RAW, LAST_RECT)
"""The encodings that `record` requests by default, best first; all are lossless."""

_PASSED_ON = PIXEL_ENCODINGS | {LAST_RECT, CURSOR, X_CURSOR, DESKTOP_SIZE, *QUALITIES, *COMPRESSION_LEVELS}
_PIECE = 1 << 18


@dataclass(frozen=True, slots=True)
class RecordOptions:
    """Bounds of a recording."""

    max_bytes: int = MAX_BYTES
    """Size of the file in bytes."""
    limits: Limits = field(default_factory=Limits)
    """Bounds on the memory that the server can make the recorder allocate."""
    timeouts: Timeouts = field(default_factory=Timeouts)
    """Deadlines of connection and handshake."""


class _Tap:
    """The connection to the server, and the file for its messages."""

    def __init__(
        self,
        path: Path,
        address: VNCAddress,
        streams: tuple[StreamReader, StreamWriter],
        init: ServerInit,
        options: RecordOptions,
    ) -> None:
        self.address, self.init = address, init
        self.reader, self.writer = streams
        self.file = CaptureWriter(
            path,
            CaptureHeader(init.width, init.height, init.name, created=time.time()),
            max_bytes=options.max_bytes,
        )
        self.scanner = Scanner(init.width, init.height, RGBX, options.limits)
        self._asked = False
        self.writer.write(_set_pixel_format(RGBX))

    def set_pixel_format(self, pixel_format: PixelFormat) -> None:
        if self._asked and pixel_format != self.scanner.pixel_format:
            raise ProtocolError("the client changed its pixel format after its first update request")
        self.scanner.pixel_format = pixel_format
        self.file.pixel_format(pixel_format)
        self.writer.write(_set_pixel_format(pixel_format))

    def set_encodings(self, encodings: Sequence[int]) -> None:
        """Request those of `encodings` whose lengths the scanner knows and that need no answers."""
        known = [encoding for encoding in encodings if encoding in _PASSED_ON]
        self.file.encodings(known)
        self.writer.write(struct.pack(f">BxH{len(known)}i", 2, len(known), *known))

    def request(self, incremental: bool, region: Rect) -> None:
        self._asked = True
        self.file.request(incremental, region)
        self.writer.write(struct.pack(">BBHHHH", 3, incremental, *region))

    def received(self, data: bytes) -> int:
        """Store data of the server; return the number of updates that it completes."""
        messages = self.scanner.receive(data)
        for message in messages:
            self.file.message(message)
        return sum(message.kind == FRAMEBUFFER_UPDATE for message in messages)

    def close(self) -> None:
        self.writer.transport.abort()
        self.file.close()


def _set_pixel_format(pixel_format: PixelFormat) -> bytes:
    return bytes(4) + pixel_format.encode()


async def _join(address: VNCAddress, path: Path, options: RecordOptions) -> _Tap:
    reader, writer, init = await joined(address, options.limits, options.timeouts)
    try:
        return _Tap(path, address, (reader, writer), init, options)
    except BaseException:
        writer.transport.abort()
        raise


async def record(
    address: VNCAddress,
    path: Path,
    *,
    seconds: float,
    encodings: Sequence[int] = DEFAULT_ENCODINGS,
    max_updates: int | None = None,
    options: RecordOptions = RecordOptions(),
    on_progress: Callable[[CaptureWriter], object] = lambda capture: None,
) -> CaptureWriter:
    """Record the screen for some seconds, and request each update when the previous one has arrived.

    Args:
        address: the server and the credentials for it.
        path: path of the new file.
        seconds: duration of the recording in seconds; it ends earlier if the file is full.
        encodings: encoding numbers to request, best first; those that a capture cannot contain are omitted.
        max_updates: number of updates after which the recording ends; None for no bound.
        options: further bounds.
        on_progress: function that is called with the writer after each received piece of data.

    Returns:
        The closed writer, with the number of updates and bytes.

    Raises:
        VNCError: the connection failed, or the server sent invalid data.
        FileExistsError: the file exists.
    """
    tap = await _join(address, path, options)
    try:
        tap.set_pixel_format(RGBX)
        tap.set_encodings(encodings)
        tap.request(False, _whole(tap))
        async with asyncio.timeout(seconds):
            while not tap.file.full and tap.file.updates != max_updates:
                await _record_some(tap)
                on_progress(tap.file)
    except TimeoutError:
        pass
    finally:
        tap.close()
    return tap.file


async def _record_some(tap: _Tap) -> None:
    data = await _read(tap)
    if tap.received(data):
        tap.request(True, _whole(tap))


async def _read(tap: _Tap) -> bytes:
    try:
        data = await tap.reader.read(_PIECE)
    except ConnectionError:
        data = b""
    if not data:
        raise PeerLost(f"{tap.address}: the server closed the connection")
    return data


def _whole(tap: _Tap) -> Rect:
    return Rect(0, 0, tap.scanner.width, tap.scanner.height)


class Recorder:
    """A proxy between one client and a server, which records the server's messages.

    It authenticates to the server. Its one client connects from this machine, without a password. Of the client's
    encodings it forwards those that a capture can contain; it does not forward the clipboard.
    """

    def __init__(self, tap: _Tap) -> None:
        """Use `open`."""
        self._tap = tap
        self._client: asyncio.Future[tuple[StreamReader, StreamWriter]] = (
            asyncio.get_running_loop().create_future()
        )
        self._listener: asyncio.Server | None = None
        self.port = 0

    @classmethod
    async def open(
        cls,
        address: VNCAddress,
        path: Path,
        *,
        port: int = 0,
        options: RecordOptions = RecordOptions(),
    ) -> Recorder:
        """Connect to the server, create the file, and listen on 127.0.0.1.

        Args:
            address: the server and the credentials for it.
            path: path of the new file.
            port: TCP port to listen on; 0 chooses a free one.
            options: bounds of the recording.

        Raises:
            VNCError: the connection to the server failed.
            OSError: the file exists, or the port is in use.
        """
        recorder = cls(await _join(address, path, options))
        try:
            recorder._listener = await asyncio.start_server(recorder._accept, "127.0.0.1", port)
        except BaseException:
            recorder._tap.close()
            raise
        recorder.port = recorder._listener.sockets[0].getsockname()[1]
        return recorder

    @property
    def file(self) -> CaptureWriter:
        """The writer of the capture."""
        return self._tap.file

    async def _accept(self, reader: StreamReader, writer: StreamWriter) -> None:
        if self._client.done():
            writer.transport.abort()
        else:
            self._client.set_result((reader, writer))

    async def run(self) -> None:
        """Wait for the client and record its session until it disconnects or the file is full.

        Raises:
            ProtocolError: client or server sent invalid data, or the client changed its pixel format after its first
                update request.
            PeerLost: the server closed the connection.
        """
        reader, writer = await self._client
        assert self._listener is not None
        self._listener.close()
        protocol = ServerProtocol(
            self._tap.init.width, self._tap.init.height, self._tap.init.name, Passwords()
        )
        try:
            await _first(self._from_client(protocol, reader, writer), self._from_server(writer))
        finally:
            writer.transport.abort()

    async def _from_client(
        self, protocol: ServerProtocol, reader: StreamReader, writer: StreamWriter
    ) -> None:
        writer.write(protocol.data_to_send())
        while data := await _read_or_end(reader):
            try:
                messages = protocol.receive(data)
            except AuthError as error:
                raise ProtocolError(f"the client was refused: {error}") from error
            writer.write(protocol.data_to_send())
            for message in messages:
                self._pass_on(message)

    def _pass_on(self, message: Message) -> None:
        match message:
            case SetPixelFormat(pixel_format):
                self._tap.set_pixel_format(pixel_format)
            case SetEncodings(encodings):
                self._tap.set_encodings(encodings)
            case UpdateRequest(incremental, region):
                self._tap.request(incremental, region)
            case KeyEvent() | PointerEvent():
                self._tap.writer.write(encode([message]))

    async def _from_server(self, writer: StreamWriter) -> None:
        """Forward and record the server's data; it sends no updates before the client's first request."""
        while not self._tap.file.full:
            data = await _read(self._tap)
            writer.write(data)
            self._tap.received(data)
            await writer.drain()

    async def close(self) -> None:
        """Close both connections and the file; idempotent."""
        self._tap.close()
        if self._listener is not None:
            self._listener.close()
            await self._listener.wait_closed()
        self._client.cancel()


async def _read_or_end(reader: StreamReader) -> bytes:
    try:
        return await reader.read(_PIECE)
    except ConnectionError:
        return b""


async def _first(*coroutines: Coroutine[None, None, None]) -> None:
    """Run until the first coroutine ends, cancel the other, and return or raise as the first."""
    tasks = [asyncio.create_task(coroutine) for coroutine in coroutines]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
    for task in done:
        task.result()
