"""A minimal X11 client without dependencies: it counts windows that appear and detects that the server is gone."""

from __future__ import annotations

import select
import socket
import struct
import time
from dataclasses import dataclass

COOKIE = b"MIT-MAGIC-COOKIE-1"

# Request opcodes, event and reply codes of the X11 core protocol
_CHANGE_WINDOW_ATTRIBUTES, _GET_INPUT_FOCUS = 2, 43
_REPLY, _MAP_NOTIFY = 1, 19
_EVENT_MASK = 1 << 11
_SUBSTRUCTURE_NOTIFY = 1 << 19
_MESSAGE_BYTES = 32  # events, errors, and the one reply we ask for
_SETUP_TIMEOUT = 5.0


class XClient:
    """One connection to an X server, which reports windows that appear.

    Args:
        path: of the server's Unix socket.
        cookie: the server's MIT-MAGIC-COOKIE-1.

    Raises:
        OSError: no server listens there, it refuses the cookie, or (from any method) the connection is lost.
    """

    def __init__(self, path: str, cookie: bytes) -> None:
        self.mapped = 0
        """Number of windows that have appeared on the screen."""
        self._input = b""
        self._replies = 0
        self._socket, setup = connect(path, cookie)
        self._socket.sendall(select_events(setup.root, _SUBSTRUCTURE_NOTIFY))

    def fileno(self) -> int:
        """Return the descriptor to `select`: it is readable when `drain` has something to read."""
        return self._socket.fileno()

    def drain(self) -> None:
        """Read what the server has sent, without waiting."""
        try:
            while data := self._socket.recv(65536):
                self._input += data
        except BlockingIOError:
            self._read_messages()
        else:
            raise ConnectionResetError("the x server closed the connection")

    def sync(self, timeout: float) -> None:
        """Make a round trip to the server.

        Raises:
            TimeoutError: the server did not answer within `timeout` seconds.
        """
        awaited = self._replies + 1
        self._socket.sendall(struct.pack("<BxH", _GET_INPUT_FOCUS, 1))
        deadline = time.monotonic() + timeout
        while self._replies < awaited:
            remaining = deadline - time.monotonic()
            if remaining <= 0 or not select.select([self._socket], [], [], remaining)[0]:
                raise TimeoutError(f"the x server did not answer within {timeout:g} s")
            self.drain()

    def close(self) -> None:
        """Disconnect."""
        self._socket.close()

    def _read_messages(self) -> None:
        whole = len(self._input) - len(self._input) % _MESSAGE_BYTES
        for start in range(0, whole, _MESSAGE_BYTES):
            code = self._input[start] & 0x7F  # the high bit marks events made by clients
            self.mapped += code == _MAP_NOTIFY
            self._replies += code == _REPLY
        self._input = self._input[whole:]


@dataclass(frozen=True, slots=True)
class Setup:
    """What an X server tells a new client."""

    first_id: int
    """The first resource id that the client may use."""
    root: int
    """The root window of the first screen."""
    width: int
    height: int
    depth: int
    """Bits per pixel that have a meaning."""


def connect(path: str, cookie: bytes) -> tuple[socket.socket, Setup]:
    """Connect to an X server; return a socket that does not block.

    Raises:
        OSError: no server listens there, or it refuses the cookie.
    """
    connection = socket.socket(socket.AF_UNIX)
    try:
        connection.settimeout(_SETUP_TIMEOUT)
        connection.connect(path)
        setup = _set_up(connection, cookie)
        connection.setblocking(False)
    except BaseException:
        connection.close()
        raise
    return connection, setup


def select_events(window: int, mask: int) -> bytes:
    """Return the request for the events of a window."""
    return struct.pack("<BxHIII", _CHANGE_WINDOW_ATTRIBUTES, 4, window, _EVENT_MASK, mask)


def _set_up(connection: socket.socket, cookie: bytes) -> Setup:
    hello = struct.pack("<BxHHHHxx", ord("l"), 11, 0, len(COOKIE), len(cookie))
    connection.sendall(hello + padded(COOKIE) + padded(cookie))
    status, length = struct.unpack("<B5xH", _read_exactly(connection, 8))
    body = _read_exactly(connection, 4 * length)
    if status != 1:
        raise PermissionError(f"the x server refused the connection: {body.rstrip(bytes(1))!r}")
    # 4 release + 4 id base + 4 id mask + 4 motion buffer + 2 vendor length + 2 request + 1 roots + 1 formats
    first_id, vendor, formats = struct.unpack_from("<4xI8xHxxxB", body)
    # 4 root + 16 colours + 4 events + 2 width + 2 height + 16 millimetres, maps, visual, saving + 1 depth
    screen = struct.unpack_from("<I16xHH14xB", body, 32 + _padding(vendor) + vendor + 8 * formats)
    return Setup(first_id, *screen)


def _read_exactly(connection: socket.socket, length: int) -> bytes:
    data = b""
    while len(data) < length:
        piece = connection.recv(length - len(data))
        if not piece:
            raise ConnectionResetError("the x server closed the connection during the setup")
        data += piece
    return data


def _padding(length: int) -> int:
    return -length % 4


def padded(data: bytes) -> bytes:
    """Return `data` with zeros up to a multiple of four bytes."""
    return data + bytes(_padding(len(data)))
