"""What can go wrong between this client and a VNC server.

VNCError
├── ConnectError       no connection: refused, unreachable, a deadline passed before the handshake was over
├── AuthError          the server refused our credentials, or offers only what our policy refuses
│   └── TooManyFailures    the server has locked this address out for a while
├── ProtocolError      the peer broke RFB; the connection is unusable from here on
│   └── LimitExceeded      it announced something larger than our `Limits`; nothing was allocated for it
└── PeerLost           an established session ended: closed, reset, or silent past a deadline
"""

from __future__ import annotations

import os
import socket


class VNCError(Exception):
    """Base of every error this package raises about a peer."""


class ConnectError(VNCError):
    """The connection or its handshake could not be completed in time."""


class AuthError(VNCError):
    """The server refused us, or our security policy refused the server; trying again does not help."""


class TooManyFailures(AuthError):
    """The server rejects this address for a while because of earlier failures."""


class ProtocolError(VNCError):
    """The peer sent bytes that are not RFB."""


class LimitExceeded(ProtocolError):
    """The peer announced more than our limits allow."""


class PeerLost(VNCError):
    """An established session is over."""


def unreachable(address: object, error: OSError | RuntimeError | UnicodeError) -> ConnectError:
    """Return the `ConnectError` for what the system said when it was to connect: no route, no descriptor, no thread."""
    return ConnectError(f"{address}: {system_words(error)}")


def system_words(error: Exception) -> str:
    """Return what the system calls an error, without a number and without asyncio's own words."""
    if isinstance(error, OSError) and not isinstance(error, socket.gaierror) and error.errno:
        return os.strerror(error.errno)
    return getattr(error, "strerror", None) or str(error)
