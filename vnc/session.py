"""The interface of a VNC session, its address, limits and deadlines; every driver implements it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from vnc.errors import VNCError
from vnc.events import Event, TimedEvents
from vnc.pixels.frame import Frame as Frame
from vnc.pixels.reduction import Reduction
from vnc.tap import Tap
from vnc.tls import TLS

PixelsBy = Literal["shared", "vnc"]
"""How pixels come: through memory that a server on this host shares, or encoded on the VNC connection."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on the memory that a server can make a client allocate; each is checked before the allocation.

    A server that exceeds a bound ends the session with `LimitExceeded`, except as stated below.
    """

    framebuffer_width: int = 4096
    """Pixels (ServerInit, RFC 6143 section 7.3.2, and the DesktopSize pseudo-encodings)."""
    framebuffer_height: int = 4096
    """Pixels."""
    text: int = 64 * 1024
    """Bytes of a desktop name (section 7.3.2) or of a failure reason (section 7.1.3)."""
    cut_text: int = 256 * 1024
    """Bytes of clipboard text (section 7.6.4). The client discards all text; longer ones only count in
    `SessionStats.long_cut_texts`."""
    outgoing: int = 256 * 1024
    """Bytes waiting for a server that does not read; with more the session ends with `PeerLost`."""


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Deadlines in seconds on the monotonic clock. Each bounds a whole stage, not one read."""

    connect: float = 10.0
    """Name resolution and the TCP connection to any address of the host."""
    handshake: float = 15.0
    """The handshake of RFC 6143 sections 7.1 to 7.3, authentication and TLS included."""
    update: float = 30.0
    """One message of the server, from its first byte to its last."""
    probe_interval: float = 5.0
    """Silence after which the client requests one pixel, to find out whether the server still answers."""
    probe_deadline: float = 10.0
    """Time in which the server must answer that request; otherwise the session ends with `PeerLost`."""
    close: float = 5.0
    """Closing the connection."""


@dataclass(frozen=True, slots=True)
class VNCAddress:
    """The TCP address of a VNC server, the credentials for it, and which TLS certificates of it to trust.

    Raises:
        ValueError: `username` is set and `tls` is not.
    """

    host: str
    """Host name, or IPv4 or IPv6 address."""
    port: int = 5900
    """TCP port."""
    password: str | None = field(default=None, repr=False)
    """Password for VNC Authentication (RFC 6143 section 7.2.2), which uses its first 8 bytes, or for `username`.

    A server that then requires no password is refused."""
    username: str | None = None
    """User name for VeNCrypt's Plain sub-types (rfbproto), which need TLS."""
    tls: TLS | None = None
    """TLS by VeNCrypt; a server that does not offer it is refused. None is no TLS."""

    def __post_init__(self) -> None:
        if self.username is not None and self.tls is None:
            raise ValueError(f"user name {self.username!r} without tls: a user name is only sent over TLS")

    @property
    def anonymous(self) -> bool:
        """Whether there is neither a user name nor a password."""
        return self.username is None and self.password is None

    def __str__(self) -> str:
        """`host:port`, brackets around IPv6, never the password."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


@dataclass(slots=True)
class SessionStats:
    """Totals since the session was opened. To measure an interval, subtract two of them."""

    updates: int = 0
    """FramebufferUpdate messages that carried pixels."""
    rectangles: int = 0
    """Rectangles in these updates."""
    pixels: int = 0
    """Pixels in these rectangles."""
    bytes: int = 0
    """Bytes of these rectangles as encoded, with their headers of 12 bytes."""
    long_cut_texts: int = 0
    """Clipboard texts longer than `Limits.cut_text`."""


class Session(Protocol):
    """One established VNC connection: it receives frames and sends input events.

    All methods but `close` may be called from any thread and never wait for the network. In a process that was forked
    from the one that opened the session, `take`, `refresh` and `send` raise a RuntimeError, and `close` has no effect.
    """

    @property
    def shape(self) -> tuple[int, int, int]:
        """Shape of the current frame: (height, width, 3)."""
        ...

    @property
    def name(self) -> str:
        """The desktop name (RFC 6143 section 7.3.2), with control characters replaced."""
        ...

    @property
    def frames(self) -> int:
        """The number of complete frames so far: finished updates (RFC 6143 section 7.6.1) that carried pixels.

        When the server resizes the screen, `frames` and `shape` keep their values until every pixel of the new screen
        has arrived.
        """
        ...

    @property
    def frame_time(self) -> float:
        """The `time.monotonic()` at which the newest frame was complete, in seconds; 0.0 before the first frame."""
        ...

    @property
    def generation(self) -> int:
        """The newest `refresh` that is complete; 0 before the first.

        A thread that reads `generation` and then `frames` gets the frame that contains the refresh, or a later one.
        """
        ...

    @property
    def error(self) -> VNCError | None:
        """The error that ended the session; None while it is open."""
        ...

    @property
    def pixels_by(self) -> PixelsBy:
        """How the pixels of the newest update came."""
        ...

    @property
    def more_buttons(self) -> bool:
        """Whether the server takes pointer events with a ninth button (ExtendedMouseButtons, rfbproto)."""
        ...

    @property
    def stats(self) -> SessionStats:
        """Totals since the session was opened."""
        ...

    def refresh(self) -> int:
        """Request the whole screen (a non-incremental FramebufferUpdateRequest, RFC 6143 section 7.5.3).

        Returns:
            A number. When `generation` reaches it, the server has drawn every pixel of the frame after this call;
            updates that the server had begun before the call do not count.
        """
        ...

    def listen(self, listens: bool) -> bool:
        """Choose whether `on_change` is called for further frames, as it is at first. It may be called on any thread.

        A driver may call `on_change` nevertheless. It is always called when a refresh is complete, when the server has
        resized the screen, and when the session has ended.

        Returns:
            With True: whether there is a frame that was not taken, and for which `on_change` was not and will not be
            called.
        """
        ...

    def next_look(self, look: float) -> None:
        """Announce when `take` will be called next, so that the server need not send every frame.

        The driver then requests one update so long before the look that it has arrived, as far as earlier ones tell; a
        change on a screen that stood still before may come earlier. It requests every update again if there is no other
        announcement or `take` is late by a few milliseconds, if the network is too slow for the interval, while it
        listens, and while it is tapped. Refreshes are not affected.

        Args:
            look: the time, in seconds of `time.monotonic()`.

        Raises:
            ValueError: `look` is infinite or NaN.
        """
        ...

    def take(self, out: Frame, reduction: Reduction | None = None) -> int:
        """Copy the newest frame, or draw a smaller picture of it, into an array.

        The frame never contains a part of an unfinished update. Pass the same array each time: a driver may copy or
        draw only the pixels that changed since the last `take` into it.

        Args:
            out: the array, C-contiguous and of dtype uint8. Without a reduction its shape is `shape`, and its channels
                become red, green and blue; with one it is `reduction.shape`.
            reduction: which picture to draw; its `source` is `shape`. None copies the frame.

        Returns:
            The number of the frame, as `frames` counts them.

        Raises:
            ValueError: `out` or `reduction` is not for the shape of the screen, which the server may have resized.
        """
        ...

    def tap(self, limit: int) -> Tap:
        """Copy every frame to a queue from now on, the newest one first. The queue ends with the session.

        Args:
            limit: bytes of pixels that may wait; further frames are refused and counted.
        """
        ...

    def send(self, events: Sequence[Event]) -> None:
        """Send input events to the server, in order and in one write; no effect when the session has ended.

        Args:
            events: `KeyEvent`s and `PointerEvent`s.
        """
        ...

    def plan(self, since: float, timed: Sequence[TimedEvents]) -> int:
        """Replace what is planned from a time on: a thread of the driver sends each entry at its time.

        The native driver sends without the GIL. Over TLS, and with the portable driver, the event loop sends. When this
        method returns, nothing that was dropped will be sent. A time that has passed is now.

        Args:
            since: drop what is planned for this time or later, in seconds of `time.monotonic()`.
            timed: what to plan. The times do not decrease, and are not before `since`.

        Returns:
            How many entries were dropped.
        """
        ...

    def played(self) -> list[float]:
        """Return the `time.monotonic()` at which planned entries were sent since the last call, in their order."""
        ...

    async def close(self) -> None:
        """Close the connection within `Timeouts.close`; idempotent."""
        ...


class Connect(Protocol):
    """The function with which a driver opens sessions."""

    async def __call__(
        self,
        address: VNCAddress,
        *,
        on_change: Callable[[], Any],
        limits: Limits = ...,
        timeouts: Timeouts = ...,
        encodings: Sequence[int] | None = None,
    ) -> Session:
        """Connect, authenticate and start reading (RFC 6143 sections 7.1 to 7.3).

        Args:
            address: the server and the credentials for it.
            on_change: function without arguments, called on the event loop's thread when a new frame can be taken,
                when a refresh is complete, and when the session has ended. A driver may omit the calls for further
                frames until one is taken.
            limits: bounds on the memory that the server can make the client allocate.
            timeouts: deadlines of connection, handshake, liveness and close.
            encodings: the encoding numbers to request, best first, as from `vnc.encodings.preference`. A driver omits
                those that it does not decode. None requests the ones of "auto".

        Returns:
            The session, which has finished its handshake; its first frame may still be on its way.

        Raises:
            ConnectError: no connection, or no finished handshake, within the deadlines.
            AuthError: the server refused the credentials, or offers less security than `address` requires.
            ProtocolError: the server sent invalid data.
        """
        ...
