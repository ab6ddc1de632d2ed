"""The errors of a connection between a client and a VNC server.

VNCError
├── ConnectError       no connection: refused, unreachable, or the handshake not finished before its deadline
├── AuthError          the server refused the credentials, or offers less security than is configured
│   └── TooManyFailures    the server rejects this address for a while after failed attempts
├── ProtocolError      the peer sent invalid data; the connection cannot be used any more
│   └── LimitExceeded      it announced something larger than `Limits`; nothing was allocated for it
└── PeerLost           an established session ended: closed, reset, or no answer before a deadline
"""

from __future__ import annotations

import os
import socket


class VNCError(Exception):
    """Base class of the errors that a peer causes."""


class ConnectError(VNCError):
    """The connection failed, or its handshake was not finished in time."""


class AuthError(VNCError):
    """The server refused the credentials, or offers less security than is configured. A retry fails again."""


class TooManyFailures(AuthError):
    """The server rejects this address for a while because of failed attempts. A later retry may succeed."""


class ProtocolError(VNCError):
    """The peer sent data that is not valid RFB (RFC 6143)."""


class LimitExceeded(ProtocolError):
    """The peer announced more than `vnc.session.Limits` or the protocol allows."""


class PeerLost(VNCError):
    """An established session ended: the peer closed it, or did not answer before a deadline."""


def unreachable(address: object, error: OSError | RuntimeError | UnicodeError) -> ConnectError:
    """Return the `ConnectError` for an error of the operating system: no route, no descriptor, no thread."""
    return ConnectError(f"{address}: {system_words(error)}")


def system_words(error: Exception) -> str:
    """Return the text of an error of the operating system, without its number and without asyncio's additions."""
    if isinstance(error, OSError) and not isinstance(error, socket.gaierror) and error.errno:
        return os.strerror(error.errno)
    return getattr(error, "strerror", None) or str(error)
