"""A minimal X11 client without dependencies: it counts windows that appear and detects that the server is gone."""

from __future__ import annotations

import select
import socket
import struct
import time

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
        self._socket = socket.socket(socket.AF_UNIX)
        try:
            self._socket.settimeout(_SETUP_TIMEOUT)
            self._socket.connect(path)
            root = self._set_up(cookie)
            self._socket.sendall(
                struct.pack("<BxHIII", _CHANGE_WINDOW_ATTRIBUTES, 4, root, _EVENT_MASK, _SUBSTRUCTURE_NOTIFY)
            )
            self._socket.setblocking(False)
        except BaseException:
            self._socket.close()
            raise

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

    def _set_up(self, cookie: bytes) -> int:
        """Send the connection setup; return the id of the root window."""
        hello = struct.pack("<BxHHHHxx", ord("l"), 11, 0, len(COOKIE), len(cookie))
        self._socket.sendall(hello + _padded(COOKIE) + _padded(cookie))
        status, length = struct.unpack("<B5xH", self._read_exactly(8))
        body = self._read_exactly(4 * length)
        if status != 1:
            raise PermissionError(f"the x server refused the connection: {body.rstrip(bytes(1))!r}")
        # 4 release + 4 id base + 4 id mask + 4 motion buffer + 2 vendor length + 2 request + 1 roots + 1 formats
        vendor, formats = struct.unpack_from("<16xHxxxB", body)
        (root,) = struct.unpack_from("<I", body, 32 + _padding(vendor) + vendor + 8 * formats)
        return int(root)

    def _read_exactly(self, length: int) -> bytes:
        data = b""
        while len(data) < length:
            piece = self._socket.recv(length - len(data))
            if not piece:
                raise ConnectionResetError("the x server closed the connection during the setup")
            data += piece
        return data


def _padding(length: int) -> int:
    return -length % 4


def _padded(data: bytes) -> bytes:
    return data + bytes(_padding(len(data)))
