"""Errors of rewarder connections.

RewarderError
├── ConnectError       no connection: refused, unreachable, an HTTP error, or a timeout
├── AuthError          the rewarder refused the password, or its certificate is not trusted; a retry does not help
├── ControllerBusy     another client controls this remote
├── ProtocolError      the peer violated the protocol; the connection is unusable
├── PeerLost           an established connection ended; `retry` is True if connecting again may succeed
└── ResetRejected      the rewarder answered a reset with an error; the connection continues

A mistake of the caller is a `RuntimeError` or `ValueError`.
"""

from __future__ import annotations

from rewarder.sanitize import clean

RETRY_CODES = frozenset({1001, 1006, 1011, 1012, 1013, 4408})
"""Close codes after which connecting again may succeed: the rewarder restarts, or the network failed."""

ENDED_BY_PEER = 1000
PEER_VANISHED = 1006
"""The code for an end without a close frame."""
CRASHED = 1011
OVERLOADED = 1013
NOT_AUTHORISED = 4401
IDLE = 4408
BUSY = 4409


class RewarderError(Exception):
    """Base class of errors about a peer. `rewarder.sanitize` cleans the peer's text in the message."""

    retry: bool = False
    """Whether connecting again may succeed."""

    def __init__(self, message: str = "") -> None:
        super().__init__(clean(message))


class ConnectError(RewarderError):
    """The connection could not be opened."""

    retry = True


class AuthError(RewarderError):
    """The rewarder refused the password, or its TLS certificate is not trusted."""


class ControllerBusy(RewarderError):
    """Another client controls this remote; it may disconnect later."""

    retry = True


class ProtocolError(RewarderError):
    """The peer violated the protocol; `code` is the WebSocket close code for it."""

    def __init__(self, message: str, code: int = 1002) -> None:
        super().__init__(message)
        self.code = code


class PeerLost(RewarderError):
    """An established connection ended.

    Attributes:
        code: the WebSocket close code; 1006 when there was none.
        reason: the peer's text, from `v0.connection.close` or the close frame.
        retry: True for codes in `RETRY_CODES`.
    """

    def __init__(self, code: int, reason: str = "") -> None:
        super().__init__(f"connection closed, code {code}{f': {reason}' if reason else ''}")
        self.code = code
        self.reason = clean(reason)
        self.retry = code in RETRY_CODES


class ResetRejected(RewarderError):
    """The rewarder answered `v0.env.reset` with `v0.reply.error`."""

    def __init__(self, message: str) -> None:
        super().__init__(f"reset rejected: {message}")
        self.message = clean(message)
