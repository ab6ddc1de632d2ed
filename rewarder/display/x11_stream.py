"""An X11 connection on an event loop: requests, their replies, and events."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections import deque
from collections.abc import Callable, Sequence

from rewarder.display.x11 import connect, padded, select_events

GENERIC_EVENT = 35
"""The type of all events of XInputExtension."""
_ERROR, _REPLY = 0, 1
_MESSAGE = 32  # bytes of an event, an error and a reply without additional data
_QUERY_EXTENSION = 98


class XError(Exception):
    """The X server refused a request."""


class _Replies:
    """The replies to several requests: `then` is called with all of them, or with the first error."""

    def __init__(self, count: int, then: Callable[[list[bytes] | Exception], object]) -> None:
        self._missing = count
        self._arrived: list[bytes] = []
        self._then = then

    def done(self) -> bool:
        return not self._missing

    def set_result(self, reply: bytes) -> None:
        self._arrived.append(reply)
        self._missing -= 1
        if not self._missing:
            self._then(self._arrived)

    def set_exception(self, error: Exception) -> None:
        self._missing = 0
        self._then(error)


class XStream(asyncio.Protocol):
    """One connection to an X server. Its methods never wait for a server that hangs, except those that are awaited.

    Attributes:
        setup: what the server said about itself.
        on_event: called with each event, of 32 bytes or more. The first byte has its high bit set if a client made it.
        on_processed: called when all that arrived together, replies and events, has been processed in its order.
    """

    def __init__(
        self,
        path: str,
        cookie: bytes,
        on_event: Callable[[bytes], object],
        on_processed: Callable[[], object] = lambda: None,
    ) -> None:
        """Connect.

        Raises:
            OSError: no server listens there, or it refuses the cookie.
        """
        self._socket, self.setup = connect(path, cookie)
        self.on_event, self.on_processed = on_event, on_processed
        self._ids = self.setup.first_id
        self._sent = 0
        self._awaited: deque[tuple[int, asyncio.Future[bytes] | _Replies]] = deque()
        self._input = bytearray()
        self._transport: asyncio.Transport | None = None
        self._lost: OSError | None = None

    async def start(self) -> None:
        """Attach the connection to the running event loop, before anything else is called."""
        await asyncio.get_running_loop().create_connection(lambda: self, sock=self._socket)

    def close(self) -> None:
        """Disconnect; idempotent."""
        if self._transport is None:
            self._socket.close()
        else:
            self._transport.abort()

    def new_id(self) -> int:
        """Return a resource id that is not in use."""
        self._ids += 1
        return self._ids - 1

    def send(self, opcode: int, detail: int, body: bytes = b"") -> None:
        """Send a request without a reply.

        Args:
            opcode: the number of the request or of its extension.
            detail: the second byte: the number of the request in its extension.
            body: the rest of the request, in multiples of four bytes.

        Raises:
            OSError: the connection was lost.
        """
        self._write(request(opcode, detail, body))

    def select_events(self, mask: int) -> None:
        """Ask for events of the root window."""
        self._write(select_events(self.setup.root, mask))

    def send_with_file(self, opcode: int, detail: int, body: bytes, file: int) -> None:
        """Send a request without a reply, and a file descriptor. Nothing else may wait to be sent.

        Raises:
            OSError: the connection was lost.
        """
        self._sent += 1
        socket.send_fds(self._socket, [request(opcode, detail, body)], [file])

    def _write(self, requests: bytes, count: int = 1) -> None:
        if self._lost is not None:
            raise self._lost
        assert self._transport is not None, "not started"
        self._sent += count
        self._transport.write(requests)

    def ask(self, opcode: int, detail: int, body: bytes = b"") -> asyncio.Future[bytes]:
        """Send a request; return its reply to come.

        Raises (when awaited):
            XError: the server refused this request, or one without a reply before it.
            OSError: the connection was lost.
        """
        self.send(opcode, detail, body)
        reply: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self._awaited.append((self._sent & 0xFFFF, reply))
        return reply

    def exchange(
        self,
        silent: Sequence[bytes],
        asked: Sequence[bytes],
        then: Callable[[list[bytes] | Exception], object],
    ) -> None:
        """Send several requests in one system call; `then` is called as soon as the last reply has arrived.

        Args:
            silent: requests without a reply, made with `request`; they are the first.
            asked: requests with a reply, at least one.
            then: function that is called with the replies, or with the first error: `XError` or `OSError`.

        Raises:
            OSError: the connection was lost.
        """
        replies = _Replies(len(asked), then)
        self._write(b"".join((*silent, *asked)), len(silent) + len(asked))
        first = self._sent - len(asked) + 1
        self._awaited.extend((number & 0xFFFF, replies) for number in range(first, self._sent + 1))

    async def extension(self, name: str) -> tuple[int, int]:
        """Return the opcode of an extension, and the number of its first event.

        Raises:
            XError: the server does not have it.
        """
        head = struct.pack("<H2x", len(name))
        reply = await self.ask(_QUERY_EXTENSION, 0, head + padded(name.encode()))
        present, opcode, first_event = struct.unpack_from("<8xBBB", reply)
        if not present:
            raise XError(f"the x server does not have {name}")
        return opcode, first_event

    # called by asyncio

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """See `asyncio.BaseProtocol`."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Process whole messages."""
        self._input += data
        while len(self._input) >= _MESSAGE:
            kind = self._input[0]
            length = _MESSAGE
            if kind in (_REPLY, GENERIC_EVENT):
                length += 4 * int.from_bytes(self._input[4:8], "little")
            if len(self._input) < length:
                break
            message = bytes(self._input[:length])
            del self._input[:length]
            self._receive(kind, message)
        self.on_processed()

    def connection_lost(self, error: Exception | None) -> None:
        """Fail all requests that wait for a reply."""
        self._lost = ConnectionResetError(f"the x server closed the connection: {error or 'end of file'}")
        while self._awaited:
            self._fail(self._awaited.popleft()[1], self._lost)

    def _receive(self, kind: int, message: bytes) -> None:
        if kind not in (_ERROR, _REPLY):
            self.on_event(message)
        elif self._awaited:
            # Replies arrive in the order of the requests, so an error is the oldest one's, or that of a request
            # without a reply before it.
            number, reply = self._awaited[0]
            if kind == _REPLY and not reply.done():
                reply.set_result(message)
            elif kind == _ERROR:
                self._fail(reply, XError(f"x error {message[1]} of request {message[10]}.{message[8]}"))
            if kind == _REPLY or int.from_bytes(message[2:4], "little") == number:
                self._awaited.popleft()

    @staticmethod
    def _fail(reply: asyncio.Future[bytes] | _Replies, error: Exception) -> None:
        if not reply.done():
            reply.set_exception(error)


def request(opcode: int, detail: int, body: bytes = b"") -> bytes:
    """Return a request; see `XStream.send`."""
    return struct.pack("<BBH", opcode, detail, 1 + len(body) // 4) + body
