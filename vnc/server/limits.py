"""Bounds on what the clients of a server can make it use."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ServerLimits:
    """Bounds on the memory and time that clients can make a server use."""

    connections: int = 64
    """Open connections, including those that have not authenticated."""
    handshake: float = 15.0
    """Seconds from the connection to the end of its handshake."""
    failure_delay: float = 0.25
    """Delay in seconds of the answer to the first wrong password of an address; it doubles with each failure, see
    `vnc.server.penalties`."""
    outgoing: int = 256 * 1024
    """Bytes that may wait for a client that does not read, in addition to the current update."""
    stall: float = 30.0
    """Seconds in which a client has to read some of the bytes that wait for it."""
