"""A VNC server that replays a capture."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
from asyncio import StreamReader, StreamWriter
from collections.abc import Sequence

from vnc.capture.capture import Capture, Recorded
from vnc.capture.scan import FRAMEBUFFER_UPDATE
from vnc.encodings import RAW, TIGHT, ZLIB, ZRLE
from vnc.errors import AuthError, ProtocolError
from vnc.pixels.pixel_format import RGBX
from vnc.server.protocol import (
    Established,
    Message,
    ServerProtocol,
    SetEncodings,
    SetPixelFormat,
    UpdateRequest,
)
from vnc.vncauth import Passwords

log = logging.getLogger(__name__)

_NO_RECTS = bytes(4)  # an update without rectangles, as the answer to a probe
_PIECE = 1 << 16
_STREAMED = {ZLIB, TIGHT, ZRLE}


class ReplayServer:
    """A server that plays a capture from its start to each client, without a password.

    Each recorded update answers one FramebufferUpdateRequest, whatever its region. After the last update the screen
    does not change. The server disconnects a client with another pixel format than the recorded one, or that does not
    request the encodings of the capture, and logs the reason.
    """

    def __init__(self, capture: Capture, *, speed: float | None = 1.0, repeat: bool = False) -> None:
        """Create a server that does not listen yet.

        Args:
            capture: the capture to play.
            speed: 1 for the recorded speed, 2 for twice the speed; None answers each request at once.
            repeat: whether to start again after the last update.

        Raises:
            ValueError: `speed` is not positive, or `repeat` is set for a capture with zlib streams, whose data
                depends on all earlier data.
        """
        if speed is not None and speed <= 0:
            raise ValueError(f"speed {speed:g} is not positive")
        if repeat and capture.uses & _STREAMED:
            raise ValueError("a capture with zlib streams cannot be repeated")
        self.capture = capture
        self.speed = speed
        self.repeat = repeat
        self._listener: asyncio.Server | None = None
        self._clients: dict[asyncio.Task[None], StreamWriter] = {}

    async def start(self, host: str = "127.0.0.1", port: int = 0) -> None:
        """Listen for clients.

        Args:
            host: host name or address of the interface to listen on.
            port: TCP port; 0 chooses a free one.

        Raises:
            OSError: the address is in use or not available.
        """
        self._listener = await asyncio.start_server(self._serve, host, port)

    @property
    def port(self) -> int:
        """The TCP port of the server; 0 before `start`."""
        return int(self._listener.sockets[0].getsockname()[1]) if self._listener else 0

    @property
    def clients(self) -> int:
        """The number of connected clients."""
        return len(self._clients)

    async def _serve(self, reader: StreamReader, writer: StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._clients[task] = writer
        viewer = _Viewer(self.capture, self.speed, self.repeat, writer)
        try:
            await viewer.serve(reader)
        except (ProtocolError, AuthError) as error:
            log.warning("%s ! %s", writer.get_extra_info("peername"), error)
        except ConnectionError:
            pass  # the client disconnected
        finally:
            del self._clients[task]
            writer.transport.abort()

    async def close(self) -> None:
        """Stop listening and disconnect all clients; idempotent."""
        listener, self._listener = self._listener, None
        if listener is None:
            return
        listener.close()
        for writer in self._clients.values():
            writer.transport.abort()  # which ends its task
        if self._clients:
            await asyncio.wait(tuple(self._clients))
        await listener.wait_closed()


class _Viewer:
    """One client of a replay."""

    def __init__(self, capture: Capture, speed: float | None, repeat: bool, writer: StreamWriter) -> None:
        self._capture, self._speed, self._repeat, self._writer = capture, speed, repeat, writer
        header = capture.header
        self._protocol = ServerProtocol(header.width, header.height, header.name, Passwords())
        self._format = RGBX
        self._encodings: frozenset[int] = frozenset()
        self._requests = 0
        self._requested = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._over = False
        self._player: asyncio.Task[None] | None = None

    async def serve(self, reader: StreamReader) -> None:
        """Answer the client until it disconnects."""
        self._writer.write(self._protocol.data_to_send())
        try:
            while data := await reader.read(_PIECE):
                messages = self._protocol.receive(data)
                self._writer.write(self._protocol.data_to_send())
                self._handle(messages)
        finally:
            if self._player is not None:
                self._player.cancel()
                await asyncio.wait([self._player])
                _raise_failure(self._player)

    def _handle(self, messages: Sequence[Message]) -> None:
        for message in messages:
            match message:
                case SetPixelFormat(pixel_format):
                    self._format = pixel_format
                case SetEncodings(encodings):
                    self._encodings = frozenset(encodings)
                case UpdateRequest():
                    self._request(message)
                case Established():
                    self._player = asyncio.create_task(self._play())

    def _request(self, request: UpdateRequest) -> None:
        self._check_form()
        if self._over:
            if not request.incremental and request.region[2:] == (1, 1):
                self._writer.write(_NO_RECTS)  # a probe of the client's liveness check
            return
        self._requests += 1
        self._requested.set()

    def _check_form(self) -> None:
        """Check that the client can decode the recorded bytes.

        Raises:
            ProtocolError: it uses another pixel format, or does not request an encoding of the capture.
        """
        if self._format != self._capture.pixel_format:
            raise ProtocolError(
                f"the client requests pixels as {self._format}, the capture has {self._capture.pixel_format}"
            )
        missing = self._capture.uses - self._encodings - {RAW}
        if missing:
            numbers = ", ".join(str(number) for number in sorted(missing))
            raise ProtocolError(f"the client does not request encodings {numbers} of the capture")

    async def _play(self) -> None:
        messages = self._capture.messages
        began = 0.0
        for number in itertools.count() if self._repeat else range(len(messages)):
            rounds, index = divmod(number, max(len(messages), 1))
            message = messages[index]
            if message.kind == FRAMEBUFFER_UPDATE:
                await self._requested.wait()
            if self._speed is not None:
                due = (message.time + rounds * self._period) / self._speed
                began = began or self._loop.time() - due
                await asyncio.sleep(began + due - self._loop.time())
            await self._send(message)
        self._over = True

    @property
    def _period(self) -> float:
        """Seconds of one repetition: the last message lasts as long as the others on average."""
        count = len(self._capture.messages)
        return self._capture.seconds * count / max(count - 1, 1)

    async def _send(self, message: Recorded) -> None:
        self._writer.write(message.data)
        if message.kind == FRAMEBUFFER_UPDATE:
            self._answered()
        with contextlib.suppress(ConnectionError):  # `serve` notices too
            await self._writer.drain()

    def _answered(self) -> None:
        """Mark requests as answered: all of them at a given speed, else one."""
        self._requests = 0 if self._speed is not None else self._requests - 1
        if not self._requests:
            self._requested.clear()


def _raise_failure(task: asyncio.Task[None]) -> None:
    if not task.cancelled():
        task.result()
