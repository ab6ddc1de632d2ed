"""The Rust core: RFB decoding on reader threads that never take the GIL."""

from typing import final

import numpy as np
from numpy.typing import NDArray

__all__ = ["Pump", "Session"]

@final
class Pump:
    """Reader threads and the sessions on them.

    In a process that was forked off, `close` has no effect and all else raises a RuntimeError.
    """

    def __new__(cls, threads: int) -> Pump: ...
    def fileno(self) -> int:
        """Readable when `drain` has something to tell; -1 after `close`."""
    def drain(self) -> list[int]:
        """The ids of the sessions with news."""
    def open(
        self,
        host: str,
        port: int,
        scope: int,
        password: bytes | None,
        encodings: list[int],
        limits: tuple[int, int, int, int, int],
        timeouts: tuple[float, float, float, float, float],
    ) -> Session:
        """Begin to connect to a numeric address.

        Args:
            host: an IPv4 or IPv6 address.
            port: the TCP port.
            scope: the number of the interface of a link-local IPv6 address, else 0.
            password: for VNC authentication; None wants a server without any.
            encodings: numbers, best first.
            limits: framebuffer width, framebuffer height, text, cut text, outgoing.
            timeouts: connect, handshake, message, probe interval, probe deadline, in seconds.

        Raises:
            OSError: the system refuses: no route, no descriptor.
        """
    def feed(
        self,
        anonymous: bool,
        username: bytes | None,
        password: bytes | None,
        encodings: list[int],
        limits: tuple[int, int, int, int, int],
        timeouts: tuple[float, float, float, float, float],
    ) -> Session:
        """Return a session over TLS, whose bytes the caller moves; otherwise as `open`.

        Args:
            anonymous: whether a server without a certificate will do.
            username: for VeNCrypt's Plain; None for VNC authentication, or none.
            password: for either.
            encodings: as for `open`.
            limits: as for `open`.
            timeouts: as for `open`; the connection stands already.
        """
    def close(self) -> None:
        """End all sessions and threads."""

@final
class Session:
    """One connection.

    In a process that was forked off, `close` has no effect, and `take`, `refresh` and `send` raise a RuntimeError.
    """

    @property
    def id(self) -> int:
        """What `Pump.drain` calls this session."""
    @property
    def connected(self) -> bool:
        """Whether the TCP connection was established."""
    @property
    def ready(self) -> bool:
        """Whether the handshake is over."""
    @property
    def name(self) -> str: ...
    @property
    def shape(self) -> tuple[int, int, int]: ...
    @property
    def frames(self) -> int: ...
    @property
    def frame_time(self) -> float: ...
    @property
    def generation(self) -> int: ...
    @property
    def error(self) -> tuple[str, str] | None:
        """Why the session is over: a branch of the error tree and a text."""
    @property
    def stats(self) -> tuple[int, int, int, int, int]:
        """Updates, rectangles, pixels, bytes, long cut texts."""
    def refresh(self) -> int:
        """Ask for the whole screen; return the generation that will hold it."""
    def send(self, messages: bytes) -> None:
        """Write whole messages."""
    def receive(self, data: bytes) -> None:
        """Take bytes from the server of a session that is fed; then `data_to_send` has the answer."""
    def data_to_send(self) -> bytes:
        """Bytes for the server of a session that is fed."""
    @property
    def certificate(self) -> bool | None:
        """Whether the server shows a certificate in the TLS that is to begin; None before that."""
    def secured(self) -> None:
        """TLS has begun."""
    def lost(self) -> None:
        """The connection of a session that is fed has ended."""
    def refuse(self, reason: str) -> None:
        """The server is not to be trusted."""
    def take(self, out: NDArray[np.uint8]) -> int:
        """Copy what has changed since the last take into this array; return its frame's number."""
    def close(self) -> None:
        """Close the socket."""
