"""The user at the other end of a Unix socket."""

from __future__ import annotations

import socket
import struct

_CREDENTIALS = struct.Struct("iII")  # struct ucred of unix(7): process, user, group


def peer_user(connection: socket.socket) -> int:
    """Return the effective user id of the process at the other end when it connected or listened. Linux only.

    Raises:
        OSError: the socket is not a connected Unix socket.
    """
    _, user, _ = _CREDENTIALS.unpack(
        connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    )
    return int(user)
