"""What a VNC session is to the rest of the house, whichever driver runs it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from vnc.errors import VNCError
from vnc.events import Event
from vnc.tls import TLS

Frame = NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Limits:
    """The most a server may make us hold. Nothing is allocated before its check."""

    framebuffer_width: int = 4096
    framebuffer_height: int = 4096
    text: int = 64 * 1024
    """Bytes of a desktop name or of a failure reason."""
    cut_text: int = 256 * 1024
    """Bytes of clipboard text. No text is kept; one that is longer is counted, and the session goes on."""
    outgoing: int = 256 * 1024
    """Bytes waiting for a peer that does not read; beyond it the peer counts as lost."""


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Deadlines in seconds on the monotonic clock; each bounds the whole stage, not one read."""

    connect: float = 10.0
    handshake: float = 15.0
    update: float = 30.0
    """One message of the server, from its first byte to its last."""
    probe_interval: float = 5.0
    """After this much silence the server is asked for one pixel."""
    probe_deadline: float = 10.0
    """... and must answer within this."""
    close: float = 5.0


@dataclass(frozen=True, slots=True)
class VNCAddress:
    """Where a VNC server listens, the secret it wants, and how it shows who it is.

    Raises:
        ValueError: a user name without TLS.
    """

    host: str
    port: int = 5900
    password: str | None = field(default=None, repr=False)
    username: str | None = None
    """With one, the login is VeNCrypt's Plain, for which TLS has to be on."""
    tls: TLS | None = None
    """With it, a server that does not offer TLS is refused."""

    def __post_init__(self) -> None:
        if self.username is not None and self.tls is None:
            raise ValueError("a user name goes over TLS only")

    @property
    def anonymous(self) -> bool:
        """Whether nobody logs in."""
        return self.username is None and self.password is None

    def __str__(self) -> str:
        """`host:port`, brackets around IPv6, never the password."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


@dataclass(slots=True)
class SessionStats:
    """Totals since the session was opened. Read them, subtract, never write."""

    updates: int = 0
    """FramebufferUpdate messages that carried pixels."""
    rectangles: int = 0
    pixels: int = 0
    bytes: int = 0
    """Encoded rect payload, 12 header bytes a rect included."""
    long_cut_texts: int = 0
    """Clipboard texts longer than `Limits.cut_text`."""


class Session(Protocol):
    """One established VNC connection: the newest frame out, input events in.

    Everything but `close` may be called from any thread and never waits for the network. In a process that was forked
    from the one that opened it, `take`, `refresh` and `send` raise a RuntimeError, and `close` has no effect.
    """

    @property
    def shape(self) -> tuple[int, int, int]:
        """(height, width, 3) of the framebuffer now."""
        ...

    @property
    def name(self) -> str:
        """The desktop name the server gave, with control characters replaced."""
        ...

    @property
    def frames(self) -> int:
        """How many whole frames there have been: finished updates that carried pixels.

        After the screen has got another size, `frames` and `shape` stay as they are until every pixel of the new one
        has come.
        """
        ...

    @property
    def frame_time(self) -> float:
        """`time.monotonic()` when the newest frame was finished; 0.0 before the first."""
        ...

    @property
    def generation(self) -> int:
        """The newest `refresh` whose pixels are all in the frame that `frames` counts; 0 before any.

        Whoever sees it sees that `frames`, or a later one.
        """
        ...

    @property
    def error(self) -> VNCError | None:
        """Why the session is over; None while it lives."""
        ...

    @property
    def stats(self) -> SessionStats:
        """Totals since the session was opened."""
        ...

    def refresh(self) -> int:
        """Ask for the whole screen; return the generation that will hold it.

        Once `generation` has reached the returned number, every pixel in the framebuffer was drawn by the
        server after this call. Updates that were under way when it was made do not count.
        """
        ...

    def take(self, out: Frame) -> int:
        """Copy the newest frame into `out` (shape `shape`, uint8, RGB); return its `frames` number.

        A frame is whole: no part of an update that is under way is ever in it. Give the same array each time: a driver
        may copy only what changed since the last take into it.

        Raises:
            ValueError: `out` has not the framebuffer's shape (the screen was resized).
        """
        ...

    def send(self, events: Sequence[Event]) -> None:
        """Put `events` on the wire, in order and in one write. On a session that is over: no effect."""
        ...

    async def close(self) -> None:
        """Close the connection, within `Timeouts.close`; idempotent."""
        ...


class Connect(Protocol):
    """How a driver opens a session."""

    async def __call__(
        self,
        address: VNCAddress,
        *,
        on_change: Callable[[], Any],
        limits: Limits = ...,
        timeouts: Timeouts = ...,
        encodings: Sequence[int] | None = None,
    ) -> Session:
        """Connect, authenticate and start reading.

        Args:
            address: the server and its password. With a password, a server that asks for none is refused.
            on_change: called on the event loop's thread when there is a frame to take (a driver need not say so again
                before somebody takes it), when a refresh is complete, and when the session is over.
            limits: bounds on what the server may send.
            timeouts: deadlines of connection, handshake, liveness and close.
            encodings: the numbers to ask for, best first (`vnc.encodings.preference`); a driver leaves out what it
                does not decode. None is what "auto" prefers.

        Raises:
            ConnectError, AuthError, ProtocolError: see `vnc.errors`.
        """
        ...
