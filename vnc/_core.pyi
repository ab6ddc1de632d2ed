"""The Rust core: RFB decoding on reader threads that never take the GIL."""

from typing import final

import numpy as np
from numpy.typing import NDArray

__all__ = ["Damage", "Pump", "Reduction", "Session", "Tap", "Trust", "bgrx_to_rgb", "copy_frame"]

@final
class Pump:
    """Reader threads and their sessions.

    In a process that was forked from the one that made it, `close` has no effect and the other methods raise a
    RuntimeError.
    """

    def __new__(cls, threads: int) -> Pump: ...
    def fileno(self) -> int:
        """Return a descriptor that is readable when `drain` returns sessions; -1 after `close`."""
    def drain(self) -> list[int]:
        """Return the ids of the sessions that have changed since the last call."""
    def open(
        self,
        host: str,
        port: int,
        scope: int,
        trust: Trust | None,
        username: bytes | None,
        password: bytes | None,
        encodings: list[int],
        limits: tuple[int, int, int, int, int],
        timeouts: tuple[float, float, float, float, float],
    ) -> Session:
        """Start to connect to a numeric address.

        Args:
            host: an IPv4 or IPv6 address.
            port: the TCP port.
            scope: the interface number of a link-local IPv6 address, else 0.
            trust: which servers to trust in TLS; None is no TLS.
            username: user name for VeNCrypt's Plain, which needs TLS; None for VNC Authentication or none.
            password: password for Plain or VNC Authentication; None requires a server without authentication.
            encodings: encoding numbers, best first.
            limits: framebuffer width, framebuffer height, text, cut text, outgoing.
            timeouts: connect, handshake, message, probe interval, probe deadline, in seconds.

        Raises:
            OSError: the operating system refuses: no route, no descriptor.
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
        """Return a session over TLS that the caller does. It moves the bytes; the rest is as for `open`.

        Args:
            anonymous: whether to accept a server without a certificate.
            username: user name for VeNCrypt's Plain; None for VNC Authentication or none.
            password: password for Plain or VNC Authentication.
            encodings: as for `open`.
            limits: as for `open`.
            timeouts: as for `open`; the connection is already established.
        """
    def close(self) -> None:
        """End all sessions and threads."""

@final
class Reduction:
    """Which smaller picture to make of frames of one shape; see `vnc.pixels.reduction.Reduction`."""

    def __new__(
        cls,
        shape: tuple[int, int, int],
        part: tuple[int, int, int, int],
        size: tuple[int, int],
        grey: bool,
    ) -> Reduction:
        """Return a reduction.

        Args:
            shape: height, width and channels of the frames, at most 65535 each.
            part: x, y, width and height of the part to keep.
            size: width and height of the picture.
            grey: whether to draw the brightness of three channels.

        Raises:
            ValueError: the part is empty or not within the frame, or the size is empty.
        """
    def draw(self, frame: NDArray[np.uint8], out: NDArray[np.uint8]) -> None:
        """Draw the picture of a frame."""

@final
class Trust:
    """Which servers to trust in TLS, and the host that their certificates are for."""

    def __new__(
        cls, host: str, fingerprint: bytes | None = None, authorities: list[bytes] | None = None
    ) -> Trust:
        """Return the settings; without fingerprint and authorities any server is trusted.

        Args:
            host: the name of the host in ASCII, or its address.
            fingerprint: the SHA-256 fingerprint of the only certificate to trust.
            authorities: the certificates (DER) of the authorities to trust.

        Raises:
            ValueError: the host is neither a DNS name nor an address.
        """

@final
class Session:
    """One connection.

    In a process that was forked from the one that opened it, `close` has no effect, and `take`, `refresh` and `send`
    raise a RuntimeError.
    """

    @property
    def id(self) -> int:
        """The number of this session in `Pump.drain`."""
    @property
    def connected(self) -> bool:
        """Whether the TCP connection was established."""
    @property
    def ready(self) -> bool:
        """Whether the handshake is complete."""
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
        """The kind of the error that ended the session, and its text; None while it is open."""
    @property
    def stats(self) -> tuple[int, int, int, int, int]:
        """Updates, rectangles, pixels, bytes, long cut texts."""
    def refresh(self) -> int:
        """Request the whole screen; return the `generation` that contains it."""
    def listen(self, listens: bool) -> bool:
        """Choose whether frames make `Pump.drain` return this session, one frame until a `take`; at first they do.

        Returns:
            With True: whether there is a frame that was not taken, and for which `drain` does not return it.
        """
    def next_look(self, look: float) -> None:
        """Announce when the caller takes a frame next, in seconds of `time.monotonic()`.

        Raises:
            ValueError: `look` is infinite or NaN.
        """
    @property
    def offer(self) -> tuple[bytes, str] | None:
        """The token of 16 bytes and the path of the server's offer of shared frames; None before it."""
    @property
    def more_buttons(self) -> bool:
        """Whether the server takes pointer events with more than eight buttons."""
    @property
    def shares(self) -> bool:
        """Whether the pixels of the newest update came through shared memory."""
    def map(self, memory: int, layout: tuple[int, int, int, int, int, int]) -> None:
        """Read frames from shared memory from now on, and tell the server so.

        Args:
            memory: a descriptor of the memfd, which is not needed after the call.
            layout: buffers, width, height, stride, offset of the first buffer, distance between buffers, as the
                server describes them.

        Raises:
            ValueError: the memory is not usable, so nothing has changed.
        """
    def tap(self, limit: int) -> Tap:
        """Return a queue of every frame from the newest on, for `limit` bytes of pixels."""
    def send(self, messages: bytes) -> None:
        """Send complete messages."""
    def plan(self, since: float, messages: list[tuple[float, bytes]]) -> int:
        """Replace what is planned from a time on; not for a session from `Pump.feed`.

        When it returns, no message that was dropped will be sent.

        Args:
            since: drop the planned messages for this time or later. In seconds of `time.monotonic()`, like all times.
            messages: complete messages, each to be sent at its time. The times do not decrease, and are not before
                `since`.

        Returns:
            How many messages were dropped.
        """
    def played(self) -> list[float]:
        """Return when planned messages were sent since the last call, in order."""
    def receive(self, data: bytes) -> None:
        """Process bytes of the server, in a session from `Pump.feed`; `data_to_send` then returns the answer."""
    def data_to_send(self) -> bytes:
        """Return the bytes to send to the server, in a session from `Pump.feed`."""
    @property
    def certificate(self) -> bool | None:
        """Whether the server presents a certificate in TLS; None before TLS has to start."""
    def secured(self) -> None:
        """Continue after TLS has started."""
    def lost(self) -> None:
        """End a session from `Pump.feed` whose connection was closed."""
    def refuse(self, reason: str) -> None:
        """End the session because the server's certificate is not trusted."""
    def take(self, out: NDArray[np.uint8], reduction: Reduction | None = None) -> int:
        """Copy the pixels that changed since the last take into this array; return the number of the frame.

        With a reduction, draw the pixels of the picture that cover them.
        """
    def close(self) -> None:
        """Close the socket."""

@final
class Tap:
    """Every frame of a session, copied; it ends with the session."""

    def take(self) -> tuple[NDArray[np.uint8], int, float, int, int] | None:
        """Return the oldest frame, or wait for one; None if the tap has ended and is empty.

        Returns:
            The pixels, of shape (height, width, 3); the number, the time and the generation of the frame, as the
            session has them; how many frames were refused before this one, because the queue was full.
        """
    @property
    def refused(self) -> int:
        """How many frames were refused after the newest one that was not."""
    def end(self) -> None:
        """Add nothing from now on; what waits can still be taken."""

@final
class Damage:
    """The tiles of a screen that one client has not received yet: all of them at first."""

    def __new__(cls, width: int, height: int) -> Damage:
        """Raise ValueError if a side is 0."""
    def add(self, grid: NDArray[np.bool_]) -> None:
        """Mark the set tiles of a grid, of shape (tile rows, tile columns).

        Raises:
            ValueError: it has another number of tiles, or is not C-contiguous.
        """
    def add_rect(self, rect: tuple[int, int, int, int]) -> None:
        """Mark every tile that an area touches: x, y, width and height in pixels."""
    def take(self, region: tuple[int, int, int, int], tail: bytes) -> bytes:
        """Return the changed rectangles inside `region`, and mark them as sent.

        Returns:
            For each rectangle x, y, width and height, 2 bytes each in network byte order, and then `tail`.
        """

def copy_frame(
    frame: NDArray[np.uint8], before: NDArray[np.uint8], after: NDArray[np.uint8]
) -> NDArray[np.bool_] | None:
    """Copy a frame into a buffer, and compare it with the frame in another buffer.

    Args:
        frame: the pixels, of shape (height, width, 3).
        before: the buffer to compare with. Its rows are padded to whole tiles of 16x16 pixels: its shape is
            (16 * tile rows, 48 * tile columns).
        after: the buffer to copy to, of the same shape; its padding is not written.

    Returns:
        The flags of the tiles in which they differ, of shape (tile rows, tile columns); None if all are equal.

    Raises:
        ValueError: a shape is wrong, or an array is not C-contiguous.
    """

def bgrx_to_rgb(source: NDArray[np.uint8], target: NDArray[np.uint8]) -> None:
    """Convert pixels, without the GIL if they are many.

    Args:
        source: pixels of shape (height, width, 4): blue, green, red and a byte that is ignored.
        target: pixels of shape (height, width, 3): red, green, blue. In both, the pixels of a row are consecutive.

    Raises:
        ValueError: the shapes differ, the pixels of a row are not consecutive, or `target` is read-only.
    """
