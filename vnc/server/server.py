"""A VNC server for programs that draw into a numpy array."""

from __future__ import annotations

import asyncio
import logging
import os
import ssl
import sys
from collections.abc import Callable, Sequence

from vnc.events import Event
from vnc.server.client import ClientConnection
from vnc.server.desktop import Desktop
from vnc.server.framebuffer.damage import Grid, Rect
from vnc.server.framebuffer.screen import Screen
from vnc.server.framebuffer.source import Source
from vnc.server.handover import Handover
from vnc.server.limits import ServerLimits
from vnc.server.penalties import Penalties
from vnc.session import Frame
from vnc.vncauth import Passwords

__all__ = ["Rect", "ServerLimits", "Source", "VNCServer"]

log = logging.getLogger(__name__)

_MAX_SIDE = 16384
_MAX_NAME = 1024


class VNCServer:
    """A VNC server that shows frames to any number of clients and reports their input.

    It offers RFB 3.8, 3.7 and 3.3 (RFC 6143 section 7.1.1), the security types None, VNC Authentication and VeNCrypt,
    and the encodings Raw, Tight and ZRLE. Call its methods on the thread of the event loop that ran `start`, which also
    calls `on_events`.
    """

    def __init__(
        self,
        width: int,
        height: int,
        *,
        name: str = "universe-client",
        password: str | None = None,
        view_only_password: str | None = None,
        view_only: bool = False,
        on_events: Callable[[Sequence[Event]], object] | None = None,
        on_input: Callable[[Sequence[Event], int | None], object] | None = None,
        limits: ServerLimits | None = None,
        source: Source | None = None,
    ) -> None:
        """Create a server with a black screen, which does not listen yet.

        Args:
            width: width of the screen in pixels, 1 to 16384.
            height: height of the screen in pixels, 1 to 16384.
            name: desktop name that clients show, at most 1024 bytes of UTF-8.
            password: password for VNC Authentication (RFC 6143 section 7.2.2), which uses its first 8 bytes; None
                requires no authentication.
            view_only_password: password of clients that receive pixels but whose input is ignored.
            view_only: whether to ignore the input of all clients.
            on_events: function that is called with a list of `KeyEvent`s and `PointerEvent`s of one client, in order.
                When a client disconnects, further events release the keys and buttons that it held.
            on_input: function that is called before `on_events` with the same events, and with the client's mark: the
                one of `vnc.encodings.MARKS` among its encodings, None without one.
            limits: bounds on the memory and time that clients can use.
            source: what the screen is a copy of, if it is updated only when clients ask for it; see `Source`.

        Raises:
            ValueError: a size, the name or a password is out of bounds.
        """
        if not (0 < width <= _MAX_SIDE and 0 < height <= _MAX_SIDE):
            raise ValueError(f"a screen is 1x1 to {_MAX_SIDE}x{_MAX_SIDE}, not {width}x{height}")
        if len(name.encode()) > _MAX_NAME:
            raise ValueError(f"a desktop name has at most {_MAX_NAME} bytes, not {len(name.encode())}")
        limits = limits or ServerLimits()
        self._desktop = Desktop(
            screen=Screen(width, height),
            name=name,
            passwords=Passwords(password, view_only_password),
            view_only=view_only,
            on_events=on_events,
            on_input=on_input,
            limits=limits,
            source=source,
            penalties=Penalties(limits.failure_delay),
        )
        self._listener: asyncio.Server | None = None
        self._port = 0

    async def start(self, host: str = "127.0.0.1", port: int = 0, tls: ssl.SSLContext | None = None) -> None:
        """Listen for clients.

        Args:
            host: host name or address of the interface to listen on.
            port: TCP port; 0 chooses a free one.
            tls: SSL context with the server's certificate; clients without VeNCrypt are then refused.

        Raises:
            OSError: the address is in use or not available.
            RuntimeError: the server is already listening.
        """
        if self._listener is not None:
            raise RuntimeError(f"the VNC server is already listening on port {self._port}")
        loop = asyncio.get_running_loop()
        self._desktop.closed = False
        self._desktop.tls = tls
        self._desktop.handover = None if tls is not None else self._share()
        self._listener = await loop.create_server(lambda: ClientConnection(self._desktop), host, port)
        self._port = self._listener.sockets[0].getsockname()[1]

    def _share(self) -> Handover | None:
        """Open the way to the shared frames; return None where they are not available."""
        if sys.platform != "linux":
            return None
        screen, handover = self._desktop.screen, None
        try:
            descriptor = screen.share()
            handover = Handover(descriptor, screen.ring.layout, frozenset((0, os.geteuid())))
            handover.start()
        except OSError as error:
            log.info("= no shared frames: %s", error)
            if handover is not None:
                handover.close()
            return None
        return handover

    @property
    def port(self) -> int:
        """The TCP port of the server; 0 before `start`."""
        return self._port

    @property
    def clients(self) -> int:
        """The number of connected and authenticated clients."""
        return sum(connection.established for connection in self._desktop.connections)

    @property
    def wanted(self) -> bool:
        """Whether a client waits for a change of the screen, and can be sent one."""
        return any(connection.waits() for connection in self._desktop.connections)

    @property
    def connections(self) -> int:
        """The number of connections, authenticated or not. It may be read on any thread."""
        return len(self._desktop.connections)

    def present(self, frame: Frame) -> None:
        """Show a frame, and send its changes to the clients that have requested an update.

        Args:
            frame: pixels of shape (height, width, 3), dtype uint8, channels red, green, blue; they are copied.

        Raises:
            ValueError: `frame` has another shape or dtype.
        """
        self._send(self._desktop.screen.present(frame))

    def paint(self, rects: Sequence[Rect], draw: Callable[[Frame], object]) -> None:
        """Change parts of the shown frame, and send them to the clients that have requested an update.

        Args:
            rects: the areas that change, inside the screen. They are sent without a comparison.
            draw: function that is called once with the shown frame, shape (height, width, 3), and changes its pixels
                inside `rects` only.
        """
        self._send(self._desktop.screen.paint(rects, draw))

    def _send(self, grid: Grid | None) -> None:
        if grid is not None:
            for connection in tuple(self._desktop.connections):
                connection.changed(grid)

    def poll(self) -> None:
        """Read what clients of shared frames have sent, from now on only in `poll`; updates are sent by `flush`.

        Others are read whenever something arrives. See `vnc.server.polled`.
        """
        for connection in tuple(self._desktop.connections):
            connection.poll()

    def flush(self) -> None:
        """Send clients the updates that they have requested."""
        for connection in tuple(self._desktop.connections):
            connection.flush()

    def watch(self) -> None:
        """End `poll`: read all clients whenever something arrives."""
        for connection in tuple(self._desktop.connections):
            connection.watch()

    def checksum(self) -> int:
        """Return the CRC-32 of the shown pixels, row by row, in the order red, green, blue."""
        return self._desktop.screen.checksum()

    async def close(self) -> None:
        """Stop listening and disconnect all clients; idempotent."""
        listener, self._listener = self._listener, None
        if listener is None:
            return
        listener.close()
        self._desktop.closed = True
        for connection in tuple(self._desktop.connections):
            connection.abort()
        await listener.wait_closed()
        handover, self._desktop.handover = self._desktop.handover, None
        if handover is not None:
            handover.close()
