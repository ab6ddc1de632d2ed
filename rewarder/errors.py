"""What can go wrong between this client and a rewarder.

RewarderError
├── ConnectError       no connection: refused, unreachable, an HTTP error, not open in time
├── AuthError          the rewarder refused our credentials, or we its certificate; trying again does not help
├── ControllerBusy     another client controls this remote
├── ProtocolError      the peer broke the protocol; the connection is unusable from here on
├── PeerLost           an established connection ended; `retry` says whether connecting again makes sense
└── ResetRejected      the rewarder answered a reset with an error; the connection goes on

A caller's own mistake is a plain `RuntimeError` or `ValueError`.
"""

from __future__ import annotations

from rewarder.sanitize import clean

RETRY_CODES = frozenset({1001, 1006, 1011, 1012, 1013, 4408})
"""Close codes after which the same rewarder may well be there again: it restarts, or the network blinked."""

ENDED_BY_PEER = 1000
PEER_VANISHED = 1006
"""What we call an end without a close frame."""
CRASHED = 1011
OVERLOADED = 1013
NOT_AUTHORISED = 4401
IDLE = 4408
BUSY = 4409


class RewarderError(Exception):
    """Base of every error this package raises about a peer, whose words in it are harmless: see `rewarder.sanitize`."""

    retry: bool = False
    """Whether connecting again, later, makes sense."""

    def __init__(self, message: str = "") -> None:
        super().__init__(clean(message))


class ConnectError(RewarderError):
    """The connection could not be opened in time."""

    retry = True


class AuthError(RewarderError):
    """The rewarder refused our credentials, or shows over TLS nothing that we trust."""


class ControllerBusy(RewarderError):
    """Another client controls this remote; it may let go later."""

    retry = True


class ProtocolError(RewarderError):
    """The peer sent what the protocol does not allow; `code` is the WebSocket close code that says so."""

    def __init__(self, message: str, code: int = 1002) -> None:
        super().__init__(message)
        self.code = code


class PeerLost(RewarderError):
    """An established connection is over.

    Attributes:
        code: the WebSocket close code; 1006 when there was none.
        reason: the peer's words, from `v0.connection.close` or the close frame.
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
