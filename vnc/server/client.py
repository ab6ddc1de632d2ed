"""One client of the VNC server: its socket, its update requests, and the changes that it has not received."""

from __future__ import annotations

import asyncio
import logging
import struct
import time
from collections.abc import Sequence
from functools import partial

from vnc import fences
from vnc.encodings import EXTENDED_MOUSE_BUTTONS, FENCE, SHARED_FRAMES, is_this_host, mark_of
from vnc.errors import AuthError, ProtocolError
from vnc.events import Event, KeyEvent, PointerEvent
from vnc.pixels.pixel_format import PixelFormat, colour_map
from vnc.server.desktop import Desktop
from vnc.server.encoders import preferred
from vnc.server.encoders.client_encoders import ClientEncoders
from vnc.server.framebuffer.damage import Grid, Rect
from vnc.server.framebuffer.source import MAX_WAITING, Barrier
from vnc.server.framebuffer.unsent import RECT, Unsent
from vnc.server.input import ClientInput
from vnc.server.protocol import (
    BeginTLS,
    Established,
    Fence,
    Message,
    ServerProtocol,
    SetEncodings,
    SetPixelFormat,
    SharedReady,
    SharedRelease,
    UpdateRequest,
)
from vnc.server.shared import SharedFrames
from vnc.server.sockets import READ, PolledReads, tune
from vnc.vncauth import Access

log = logging.getLogger("vnc.server.server")

_UPDATE = struct.Struct(">BxH")  # 1 message-type + 1 padding + 2 number-of-rects
_MORE_BUTTONS = struct.pack(">HHHHi", 0, 0, 0, 0, EXTENDED_MOUSE_BUTTONS)
_CHEAP = 0.002  # seconds of CPU time: cheaper updates are never delayed
_GOODBYE = 1.0  # seconds in which a client has to confirm the end of TLS
_REST = 3.0  # others, and full reads, are followed by a pause of this many times their CPU time, for the other clients


class ClientConnection(asyncio.BufferedProtocol):
    """One client. At most one update is being sent; the next is encoded from the newest frame when it has been sent.

    The server reads small pieces from a client, so that it can serve the others in between.
    """

    def __init__(self, desktop: Desktop) -> None:
        self.established = False
        self._desktop = desktop
        screen = desktop.screen.rect
        self._unsent = Unsent(screen.width, screen.height)
        self._input = ClientInput(screen.width, screen.height)
        self._view_only = desktop.view_only
        self._fences = False  # whether a fence was sent, after which the client may send fences
        self._mark: int | None = None
        self._confirmation = b""  # a rect without pixels for the next update
        self._encoders = ClientEncoders()
        self._requested: Rect | None = None
        self._barrier = Barrier(desktop.source, self.flush)
        self._shared = SharedFrames(desktop.screen, desktop.handover, desktop.limits.stall, self._fail)
        self._polled = PolledReads(self._shared, self._receive)
        self._writable = True
        self._under_way = 0  # bytes of the current update in the send buffer
        self._received = memoryview(bytearray(READ))
        self._address = self._peer = "?"
        self._early: list[bytes] | None = None  # decrypted data that arrived before TLS was complete
        self._upgrade: asyncio.Task[None] | None = None
        self._transport: asyncio.Transport
        self._protocol: ServerProtocol
        self._deadline: asyncio.TimerHandle | None = None
        self._resting: asyncio.TimerHandle | None = None
        self._pausing: asyncio.TimerHandle | None = None
        self._stalling: asyncio.TimerHandle | None = None

    # called by asyncio

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Send the version to the client, or refuse it."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._address, port = (transport.get_extra_info("peername") or ("?", 0))[:2]
        self._peer = f"{self._address}:{port}"
        desktop, loop = self._desktop, asyncio.get_running_loop()
        if desktop.closed:  # accepted in the loop iteration in which the server closed
            transport.abort()
            return
        if len(desktop.connections) >= desktop.limits.connections:
            log.warning("%s ! refused, %d connections are open", self._peer, len(desktop.connections))
            transport.abort()
            return
        desktop.connections.add(self)
        tune(transport)
        screen = desktop.screen.rect
        self._protocol = ServerProtocol(
            screen.width,
            screen.height,
            desktop.name,
            desktop.passwords,
            refuse=desktop.penalties.refused(self._address, loop.time()),
            tls=desktop.tls is not None,
        )
        self._deadline = loop.call_later(desktop.limits.handshake, self._fail, "handshake took too long")
        self._send_pending()

    def get_buffer(self, sizehint: int) -> memoryview:
        """Return the buffer for the next bytes of the client."""
        return self._received

    def buffer_updated(self, nbytes: int) -> None:
        """Handle the client's bytes as one batch; after a full read, pause it so that others get their turn."""
        data = bytes(self._received[:nbytes])
        if nbytes < READ:
            self._receive(data)
        else:
            self._receive_much(data)

    def _receive_much(self, data: bytes) -> None:
        started = time.thread_time()
        self._receive(data)
        if self.established:
            self._transport.pause_reading()
            cost = time.thread_time() - started
            self._pausing = asyncio.get_running_loop().call_later(
                cost * _REST, self._transport.resume_reading
            )

    def _receive(self, data: bytes) -> None:
        if self._early is not None:
            self._early.append(data)
            return
        try:
            messages = self._protocol.receive(data)
            self._send_pending()
            self._handle(messages)
        except AuthError as error:
            self._deny(str(error))
        except ProtocolError as error:
            self._send_pending()
            self._fail(str(error))

    def connection_lost(self, error: Exception | None) -> None:
        """Remove the client and release the keys and buttons that it held."""
        self._desktop.connections.discard(self)
        self._barrier.close()
        self._shared.close()
        for timer in (self._deadline, self._resting, self._pausing, self._stalling):
            if timer is not None:
                timer.cancel()
        if self.established:
            log.info("%s = left: %s", self._peer, error or "closed")
            self.established = False
            self._desktop.deliver(self._input.release(), self._mark)

    def pause_writing(self) -> None:
        """See `asyncio.BaseProtocol`: some of the last update is still in the send buffer."""
        self._writable = False
        self._watch(self._transport.get_write_buffer_size())

    def resume_writing(self) -> None:
        """See `asyncio.BaseProtocol`: the send buffer is empty."""
        self._writable = True
        self._under_way = 0
        if self._stalling is not None:
            self._stalling.cancel()
        self.flush()

    # called by the server

    def waits(self) -> bool:
        """Return whether the client has requested an update, and the last one has been sent."""
        idle = self._writable and self._resting is None and not self._shared.holding
        return self._requested is not None and idle

    def changed(self, grid: Grid) -> None:
        """Mark the tiles in which a new frame differs."""
        self._unsent.add(grid)
        self.flush()

    def poll(self) -> None:
        """Read what has arrived, without an update in reply; see `PolledReads`."""
        self._polled.poll(self._transport)

    def watch(self) -> None:
        """Read what has arrived, and from now on whatever arrives, at once."""
        self._polled.end(self._transport)
        self.flush()

    def abort(self) -> None:
        """Drop the connection at once."""
        self._transport.abort()

    # messages

    def _handle(self, messages: Sequence[Message]) -> None:
        events: list[Event] = []
        for message in messages:
            match message:
                case SharedRelease(number):
                    self._shared.release(number)
                case UpdateRequest(True):
                    self._request(message)
                case KeyEvent() | PointerEvent():
                    events.append(message)
                case UpdateRequest():
                    self._barrier.pass_on(partial(self._request, message))
                case SetPixelFormat(pixel_format):
                    self._set_format(pixel_format)
                case SetEncodings(encodings):
                    self._set_encodings(encodings)
                case Fence():
                    self._barrier.pass_on(partial(self._answer_fence, message))
                case SharedReady():
                    self._shared.begin()
                case BeginTLS():
                    self._begin_tls()
                case Established(access):
                    self._establish(access)
        if self._barrier.waiting > MAX_WAITING:
            self._fail(f"sends {self._barrier.waiting} requests while the screen is not available")
        if events and not self._view_only:
            self._desktop.deliver(self._input.accept(events), self._mark)
        if not self._polled.is_active:
            self.flush()

    def _establish(self, access: Access) -> None:
        assert self._deadline is not None
        self._deadline.cancel()
        self.established = True
        self._view_only = self._view_only or access is Access.VIEW_ONLY
        log.info("%s = connected, %s", self._peer, "view only" if self._view_only else "full access")

    def _begin_tls(self) -> None:
        # Read no more plain text. The protocol checks what has arrived already.
        self._transport.pause_reading()
        self._early = []
        self._upgrade = asyncio.create_task(self._start_tls(), name=f"tls {self._peer}")

    async def _start_tls(self) -> None:
        assert self._desktop.tls is not None
        try:
            transport = await asyncio.get_running_loop().start_tls(
                self._transport,
                self,
                self._desktop.tls,
                server_side=True,
                ssl_shutdown_timeout=_GOODBYE,
            )
        except OSError as error:
            self._lose(f"TLS failed: {getattr(error, 'reason', None) or str(error) or 'the client left'}")
            return
        if transport is None or transport.is_closing():
            self._lose("TLS failed: the connection was closed")
            return
        self._transport = transport
        tune(transport)
        early, self._early = self._early or (), None
        try:
            self._protocol.secured()
        except ProtocolError as error:
            self._fail(str(error))
            return
        self._send_pending()
        for data in early:
            self._receive(data)

    def _lose(self, reason: str) -> None:
        """End a connection that failed in its TLS handshake, for which asyncio does not call `connection_lost`."""
        log.warning("%s ! %s", self._peer, reason)
        self._transport.abort()
        self.connection_lost(None)

    def _set_format(self, pixel_format: PixelFormat) -> None:
        self._encoders.pixel_format = pixel_format.effective()
        if not pixel_format.true_colour:
            self._answer(colour_map())

    def _set_encodings(self, encodings: Sequence[int]) -> None:
        self._encoders.encoding, self._mark = preferred(encodings), mark_of(encodings)
        self._confirmation = _MORE_BUTTONS if EXTENDED_MOUSE_BUTTONS in encodings else b""
        if SHARED_FRAMES in encodings and is_this_host(self._address):
            self._answer(self._shared.offer())
        if FENCE in encodings and not self._fences:
            self._fences = True  # a client may send fences after it has received one
            self._answer(fences.encode(fences.REQUEST, b""))

    def _answer_fence(self, fence: Fence) -> None:
        self.flush()  # the updates that earlier messages requested
        self._answer(fence.encode())

    def _request(self, request: UpdateRequest) -> None:
        region = request.region.intersection(self._desktop.screen.rect)
        if region is None:
            return
        if not request.incremental:
            self._unsent.add_rect(region)
        self._requested = region if self._requested is None else self._requested.union(region)

    # updates

    def flush(self) -> None:
        """Send the changes in the requested area, unless the last update is still being sent."""
        if self._requested is None or not self.waits() or self._transport.is_closing():
            return
        tail = self._shared.tail()
        rects = self._unsent.take(self._requested, tail)
        if not rects:
            if self._desktop.source is not None:
                self._desktop.source.wanted()
            return
        self._requested = None
        size = RECT.size + len(tail)
        if self._shared.hold():
            self._send_update(len(rects) // size, [rects])
        else:
            self._send_encoded([Rect(*RECT.unpack_from(rects, at)) for at in range(0, len(rects), size)])

    def _send_update(self, count: int, rects: Sequence[bytes | memoryview]) -> None:
        """Send a FramebufferUpdate message (RFC 6143 section 7.6.1); `rects` are copied once, into the message."""
        confirmation, self._confirmation = self._confirmation, b""
        head = _UPDATE.pack(0, count + bool(confirmation))
        self._transport.write(b"".join((head, confirmation, *rects)))
        self._under_way = self._transport.get_write_buffer_size()

    def _send_encoded(self, rects: Sequence[Rect]) -> None:
        """Send the pixels of these areas, and pause if that took long."""
        started = time.thread_time()
        self._send_update(*self._encoders.encode(self._desktop.screen, rects))
        cost = time.thread_time() - started
        if cost > _CHEAP:
            self._resting = asyncio.get_running_loop().call_later(cost * _REST, self._rested)

    def _rested(self) -> None:
        self._resting = None
        self.flush()

    # endings

    def _send_pending(self) -> None:
        data = self._protocol.data_to_send()
        if data:
            self._answer(data)

    def _answer(self, data: bytes) -> None:
        """Send a message other than an update; disconnect a client that does not read."""
        if self._transport.is_closing():
            return
        self._transport.write(data)
        waiting = self._transport.get_write_buffer_size() - self._under_way
        if waiting > self._desktop.limits.outgoing:
            self._fail(f"does not read, {waiting} bytes of answers are waiting")

    def _watch(self, waiting: int) -> None:
        """Disconnect the client if `ServerLimits.stall` seconds later as many bytes are still waiting."""
        loop = asyncio.get_running_loop()
        self._stalling = loop.call_later(self._desktop.limits.stall, self._check, waiting)

    def _check(self, before: int) -> None:
        waiting = self._transport.get_write_buffer_size()
        if waiting >= before:
            self._fail(f"took nothing in {self._desktop.limits.stall:g} s, {waiting} bytes are waiting")
        else:
            self._watch(waiting)

    def _deny(self, reason: str) -> None:
        """Answer a failed authentication after a delay; answer a refused client at once."""
        log.warning("%s ! %s", self._peer, reason)
        self._transport.pause_reading()
        if self._protocol.refused:
            self._send_last()
            return
        loop = asyncio.get_running_loop()
        delay = self._desktop.penalties.failed(self._address, loop.time())
        if self._deadline is not None:
            self._deadline.cancel()
        self._deadline = loop.call_later(delay, self._send_last)

    def _send_last(self) -> None:
        self._send_pending()
        self._close()

    def _fail(self, reason: str) -> None:
        log.warning("%s ! %s", self._peer, reason)
        self._close()

    def _close(self) -> None:
        """Close the connection, without waiting for a client that does not read its remaining bytes."""
        if self._transport.get_write_buffer_size():
            self._transport.abort()
        else:
            self._transport.close()
