"""A small VNC server over a numpy framebuffer, for remotes that draw their own pixels."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable, Sequence

from vnc.events import Event
from vnc.server.client import ClientConnection, Desktop, ServerLimits
from vnc.server.penalties import Penalties
from vnc.server.screen import Screen
from vnc.session import Frame
from vnc.vncauth import Passwords

__all__ = ["ServerLimits", "VNCServer"]

_MAX_SIDE = 16384
_MAX_NAME = 1024


class VNCServer:
    """Shows the frames it is given to any number of VNC clients, and hands on their input.

    Everything is called, and calls back, on the thread of the event loop that ran `start`.
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
        limits: ServerLimits | None = None,
    ) -> None:
        """Make a server that does not listen yet; the screen is black.

        Args:
            width: of the screen in pixels.
            height: of the screen in pixels.
            name: the desktop name clients show.
            password: asked for by VNC Authentication, of which eight bytes count; None lets everybody in.
            view_only_password: clients that give this one only watch.
            view_only: whether all clients only watch.
            on_events: called with the input of one client, in order, as much as came in at once. When a
                client leaves, the keys and buttons it still held are released by further events.
            limits: bounds on what clients may cost.

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
            limits=limits,
            penalties=Penalties(limits.failure_delay),
        )
        self._listener: asyncio.Server | None = None
        self._port = 0

    async def start(self, host: str = "127.0.0.1", port: int = 0, tls: ssl.SSLContext | None = None) -> None:
        """Listen; port 0 takes a free one, with `tls` nobody gets in without it (VeNCrypt).

        Raises:
            OSError: the address cannot be had.
            RuntimeError: the server listens already.
        """
        if self._listener is not None:
            raise RuntimeError(f"the vnc server listens already, on port {self._port}")
        loop = asyncio.get_running_loop()
        self._desktop.closed = False
        self._desktop.tls = tls
        self._listener = await loop.create_server(lambda: ClientConnection(self._desktop), host, port)
        self._port = self._listener.sockets[0].getsockname()[1]

    @property
    def port(self) -> int:
        """The port it listens on; 0 before `start`."""
        return self._port

    @property
    def clients(self) -> int:
        """How many clients are connected and authenticated."""
        return sum(connection.established for connection in self._desktop.connections)

    def present(self, frame: Frame) -> None:
        """Show `frame`, (height, width, 3) uint8 RGB, which is copied; send it to who waits for a change.

        Raises:
            ValueError: the frame has not the screen's shape, or is not uint8.
        """
        grid = self._desktop.screen.present(frame)
        if grid is None:
            return
        for connection in tuple(self._desktop.connections):
            connection.changed(grid)

    def checksum(self) -> int:
        """Return the CRC-32 of the pixels shown, row by row, R G B."""
        return self._desktop.screen.checksum()

    async def close(self) -> None:
        """Stop listening and drop all clients; idempotent."""
        listener, self._listener = self._listener, None
        if listener is None:
            return
        listener.close()
        self._desktop.closed = True
        for connection in tuple(self._desktop.connections):
            connection.abort()
        await listener.wait_closed()
