"""The Unix socket at which clients get the descriptor of the shared frames (docs/shared-frames.md).

The socket has no name in the file system that could remain after a crash. Its path is that of a descriptor in /proc,
which the kernel opens only to processes of this user, or root's.
"""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import socket
import struct
import tempfile
from collections.abc import Callable

from vnc.peer_user import peer_user
from vnc.server.framebuffer.ring import Layout

log = logging.getLogger(__name__)

TOKEN_BYTES = 16
MAX_PENDING = 16
"""Connections that have not sent their token yet; further ones are closed."""
PATIENCE = 5.0
"""Seconds in which a connection has to send its token."""
PAUSE = 1.0
"""Seconds after a connection could not be accepted for lack of descriptors or memory."""

_VERSION = 1
# 4 magic + 2 version + 2 buffers + 4 width + 4 height + 4 stride + 4 offset of the first buffer + 8 distance
_HEADER = struct.Struct(">4sHHIIIIQ")


class Handover:
    """Gives the memory's descriptor to those who show a token; each token is valid once.

    Args:
        descriptor: of the memory, which `close` closes.
        layout: of the frames in it.
        users: the user ids whose processes may have it.
    """

    def __init__(self, descriptor: int, layout: Layout, users: frozenset[int]) -> None:
        self.path = ""
        self._descriptor = descriptor
        self._header = _HEADER.pack(
            b"UCSF",
            _VERSION,
            layout.buffers,
            layout.width,
            layout.height,
            layout.stride,
            layout.offset,
            layout.distance,
        )
        self._users = users
        self._tokens: dict[bytes, Callable[[], object]] = {}
        self._visitors: set[_Visitor] = set()
        self._listener: socket.socket | None = None
        self._place = -1

    def start(self) -> None:
        """Open the socket, in a running event loop.

        Raises:
            OSError: the socket cannot be made.
        """
        self._listener, self._place = _without_name()
        self._listener.setblocking(False)
        self._listen()
        self.path = f"/proc/{os.getpid()}/fd/{self._place}"

    def expect(self, on_fetched: Callable[[], object]) -> bytes:
        """Return a new token; `on_fetched` is called when it was used."""
        token = secrets.token_bytes(TOKEN_BYTES)
        self._tokens[token] = on_fetched
        return token

    def forget(self, token: bytes) -> None:
        """Make a token invalid."""
        self._tokens.pop(token, None)

    def exchange(self, token: bytes, connection: socket.socket) -> None:
        """Send the descriptor if the token is valid."""
        on_fetched = self._tokens.pop(token, None)
        if on_fetched is not None:
            on_fetched()
            socket.send_fds(connection, [self._header], [self._descriptor])

    def dismiss(self, visitor: _Visitor) -> None:
        """Take note of the end of a connection."""
        self._visitors.discard(visitor)

    def close(self) -> None:
        """Close the socket, its connections and the descriptor."""
        self._tokens.clear()
        for visitor in tuple(self._visitors):
            visitor.close()
        listener, self._listener = self._listener, None
        if listener is not None:
            asyncio.get_running_loop().remove_reader(listener)
            listener.close()
            os.close(self._place)
        os.close(self._descriptor)

    def _listen(self) -> None:
        if self._listener is not None:
            asyncio.get_running_loop().add_reader(self._listener, self._accept)

    def _accept(self) -> None:
        assert self._listener is not None
        loop = asyncio.get_running_loop()
        try:
            connection, _ = self._listener.accept()
        except (BlockingIOError, ConnectionAbortedError):
            return
        except OSError as error:
            # No descriptors or memory are left, and the socket stays readable.
            log.warning("! shared frames are not handed out: %s", error)
            loop.remove_reader(self._listener)
            loop.call_later(PAUSE, self._listen)
            return
        if peer_user(connection) in self._users and len(self._visitors) < MAX_PENDING:
            self._visitors.add(_Visitor(self, connection))
        else:
            connection.close()


class _Visitor:
    """One connection to the socket: it sends a token, and gets the descriptor or nothing."""

    def __init__(self, handover: Handover, connection: socket.socket) -> None:
        self._handover = handover
        self._connection = connection
        self._received = b""
        self._loop = asyncio.get_running_loop()
        self._deadline = self._loop.call_later(PATIENCE, self.close)
        connection.setblocking(False)
        self._loop.add_reader(connection, self._read)

    def close(self) -> None:
        self._handover.dismiss(self)
        self._deadline.cancel()
        self._loop.remove_reader(self._connection)
        self._connection.close()

    def _read(self) -> None:
        try:
            data = self._connection.recv(TOKEN_BYTES - len(self._received))
            self._received += data
            if data and len(self._received) < TOKEN_BYTES:
                return
            self._handover.exchange(self._received, self._connection)
        except BlockingIOError:
            return
        except OSError as error:
            log.info("= shared frames were not fetched: %s", error)
        self.close()


def _without_name() -> tuple[socket.socket, int]:
    """Return a listening socket whose name is removed again, and a descriptor of its place in the file system."""
    listener = socket.socket(socket.AF_UNIX)
    try:
        with tempfile.TemporaryDirectory(prefix="universe-client-") as directory:
            # A path through /proc is short, however long the directory's is: an address has at most 107 bytes.
            folder = os.open(directory, os.O_PATH | os.O_DIRECTORY)
            try:
                listener.bind(f"/proc/self/fd/{folder}/socket")
                listener.listen(MAX_PENDING)
                return listener, os.open("socket", os.O_PATH, dir_fd=folder)
            finally:
                os.close(folder)
    except BaseException:
        listener.close()
        raise
