"""The sockets of clients: their options, and reading at ticks of a program instead of whenever something arrives."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Callable

from vnc.server.shared import SharedFrames

READ = 4096
"""Bytes read from a client at a time."""
_LATE = 30
"""Ticks for which a client that was late is read whenever something arrives."""


def tune(transport: asyncio.Transport) -> None:
    """Set the options of a client's socket."""
    # Updates stop while any byte is in the send buffer. With TLS asyncio treats 0 as a buffer that is always full.
    secure = transport.get_extra_info("ssl_object") is not None
    transport.set_write_buffer_limits(high=1 if secure else 0, low=0)
    connection = transport.get_extra_info("socket")
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    if connection.family in (socket.AF_INET, socket.AF_INET6):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


class PolledReads:
    """Whether a client is read when the server wants it.

    A program that runs on the event loop's thread needs input only at its ticks, and a client of shared frames answers
    each frame. To wake the process for each message would cost more than to handle it. A client that has not released
    the last frame at the next tick is read whenever something arrives, for some time: so it gets its next frame as soon
    as it can.

    Attributes:
        is_active: whether asyncio does not read.
    """

    def __init__(self, shared: SharedFrames, receive: Callable[[bytes], None]) -> None:
        """`shared` is the client's, and `receive` is called with what `poll` reads."""
        self.is_active = False
        self._shared = shared
        self._receive = receive
        self._late = 0
        self._descriptor = -1

    def poll(self, transport: asyncio.Transport) -> None:
        """Read what has arrived; or stop asyncio from reading, if the client can be polled."""
        if not self.is_active:
            self._begin(transport)
            return
        if data := self._read(transport):
            self._receive(data)
        if self.is_active and self._shared.holding:
            self._late = _LATE
            self._stop(transport)

    def end(self, transport: asyncio.Transport) -> None:
        """Read what has arrived, and let asyncio read from now on."""
        if self.is_active:
            self.poll(transport)
        if self.is_active:
            self._stop(transport)

    def _begin(self, transport: asyncio.Transport) -> None:
        self._late -= 1
        keeps_up = self._late < 0 and self._shared.ready and not self._shared.holding
        if keeps_up and transport.is_reading() and not transport.is_closing():
            transport.pause_reading()
            self._descriptor = transport.get_extra_info("socket").fileno()
            self.is_active = True

    def _read(self, transport: asyncio.Transport) -> bytes:
        """Read; let asyncio find the end of the connection, or an error."""
        try:
            data = os.read(self._descriptor, READ)
        except BlockingIOError:
            return b""
        except OSError:
            data = b""
        if not data:
            self._stop(transport)
        return data

    def _stop(self, transport: asyncio.Transport) -> None:
        self.is_active = False
        transport.resume_reading()
