"""A VNC server of ours beside Xvnc's, for agents on the same host: it shows the same display at a fraction of the cost.

Xvnc compares, encodes and sends pixels at the ticks of a timer. The mirror reads them through shared memory as soon as
they have changed and an agent waits for them. Input goes through Xvnc, so that keys and buttons have the same effect.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial

from rewarder.display.cursor import Cursor
from rewarder.display.x11_pixels import XPixels
from rewarder.display.x11_stream import XError
from rewarder.display.xdisplay import XDisplay
from rewarder.display.xvnc_client import BUTTONS, XvncClient
from vnc.errors import VNCError
from vnc.events import MOST_BUTTONS, Event, PointerEvent
from vnc.pixels.bgrx import bgrx_to_rgb
from vnc.server.framebuffer.damage import Rect
from vnc.server.server import VNCServer
from vnc.session import Frame, VNCAddress
from vnc.vncauth import vnc_password

START_TIMEOUT = 5.0
"""Seconds for Xvnc to answer when the mirror starts."""
INTERVAL = 1 / 120
"""Seconds between two frames: a program that draws without pause does not take more of the processor."""

log = logging.getLogger(__name__)


class Mirror:
    """The mirror of one display. Use it on one event loop.

    It implements `vnc.server.framebuffer.source.Source`: it reads the display only for clients that wait, and a
    client's request of the whole screen, or fence, is answered when what the display shows at that moment has been
    read.
    """

    def __init__(
        self, display: XDisplay, password: str | None = None, view_only_password: str | None = None
    ) -> None:
        """Prepare a mirror.

        Args:
            display: a display that has started, and whose VNC server has no TLS.
            password: of the display's VNC server, and of the mirror; None: clients need no password.
            view_only_password: with which clients of the mirror can watch, but not act.
        """
        self._display = display
        self._password, self._view_only = vnc_password(password), vnc_password(view_only_password)
        self._changed = True
        self._waiting: list[Callable[[], object]] = []
        self._reading = False
        self._timer: asyncio.TimerHandle | None = None
        self._resizing: asyncio.Task[None] | None = None
        self._failed: asyncio.Future[None] | None = None  # while `run` runs: fails if reading does
        self._cursor, self._pointer = Cursor(), (0, 0)
        self._next = 0.0
        self._more_buttons = 0  # those that are down, from the eighth on
        self._pixels: XPixels | None = None
        self._xvnc: XvncClient | None = None
        self._server: VNCServer | None = None

    async def start(self) -> int:
        """Start the VNC server on 127.0.0.1; return its port, or 0 if the display cannot be mirrored.

        Agents then use the display's own VNC server. The reason is in the log.
        """
        try:
            async with asyncio.timeout(START_TIMEOUT):
                await self._connect()
                return await self._serve(0)
        except (XError, VNCError, OSError, EOFError) as error:
            reason = f"no answer within {START_TIMEOUT:g} s" if isinstance(error, TimeoutError) else error
            log.info("= display %s has no mirror, agents use Xvnc: %s", self._display.name, reason)
            await self.close()
            return 0

    async def run(self) -> None:
        """Copy what changes, until cancelled.

        Raises:
            OSError: the display has ended.
        """
        if self._xvnc is None:
            await asyncio.get_running_loop().create_future()
            return
        self._failed = asyncio.get_running_loop().create_future()
        self._advance()
        try:
            done, _ = await asyncio.wait((self._failed, self._listening), return_when=asyncio.FIRST_COMPLETED)
            for each in done:
                await each
        except OSError as error:
            self._display.check()
            raise ConnectionResetError(f"the mirror of display {self._display.name}: {error}") from error
        finally:
            if not self._failed.cancel():
                self._failed.exception()  # if both failed, the other error is raised
            if self._timer is not None:
                self._timer.cancel()
            if self._resizing is not None:
                self._resizing.cancel()

    async def close(self) -> None:
        """Disconnect from the display, and disconnect the clients; idempotent."""
        if self._xvnc is not None:
            self._listening.cancel()
            with suppress(asyncio.CancelledError, OSError):
                await self._listening
            self._xvnc.close()
            self._xvnc = None
        if self._pixels is not None:
            self._pixels.close()
        if self._server is not None:
            await self._server.close()

    # -- called by the VNC server ------------------------------------------------------------------------------------

    def wanted(self) -> None:
        """Read the display when it changes: a client waits."""
        self._advance()

    def refresh(self, then: Callable[[], object]) -> None:
        """Read the display now, and then call `then`."""
        if not self._waiting:  # one reading for all that arrive together
            asyncio.get_running_loop().call_soon(self._advance)
        self._waiting.append(then)

    def _act(self, events: Sequence[Event]) -> None:
        assert self._xvnc is not None
        self._xvnc.send(events)
        for event in events:
            if isinstance(event, PointerEvent) and event.button_mask >> BUTTONS != self._more_buttons:
                self._push(event)

    def _push(self, event: PointerEvent) -> None:
        """Press and release the buttons that Xvnc does not know."""
        assert self._pixels is not None
        before, self._more_buttons = self._more_buttons, event.button_mask >> BUTTONS
        with suppress(OSError):  # the next reading reports it
            for bit in range(MOST_BUTTONS.bit_length() - BUTTONS):
                if (before ^ self._more_buttons) >> bit & 1:
                    down = bool(self._more_buttons >> bit & 1)
                    self._pixels.push(BUTTONS + 1 + bit, down, event.x, event.y)

    # -- reading -----------------------------------------------------------------------------------------------------

    async def _connect(self) -> None:
        self._pixels = XPixels(self._display.socket, self._display.cookie, self._change)
        await self._pixels.start()
        address = VNCAddress("127.0.0.1", self._display.port, self._password)
        self._xvnc = await XvncClient.connect(address, self._pixels.pointer)
        self._listening = asyncio.create_task(self._xvnc.run(), name="mirror")

    async def _serve(self, port: int) -> int:
        """Show the display in its present size on a new VNC server; return its port."""
        assert self._pixels is not None
        self._screen = Rect(0, 0, self._pixels.width, self._pixels.height)
        self._server = VNCServer(
            self._screen.width,
            self._screen.height,
            name=self._display.name,
            password=self._password,
            view_only_password=self._view_only,
            on_events=self._act,
            source=self,
        )
        self._show([self._screen])
        await self._server.start("127.0.0.1", port)
        return self._server.port

    def _change(self) -> None:
        self._changed = True
        self._advance()

    def _advance(self) -> None:
        """Read the display if a client wants to see a change, or the screen as it is now.

        This runs in callbacks, because a task that waits for each of these events costs as much as the reading.
        """
        if self._reading or self._failed is None or self._failed.done():
            return
        assert self._pixels is not None and self._server is not None
        loop = asyncio.get_running_loop()
        if not self._waiting:
            if not (self._changed and self._server.wanted):
                return
            if self._next > loop.time():
                if self._timer is None:
                    self._timer = loop.call_at(self._next, self._resume)
                return
        self._next = loop.time() + INTERVAL
        self._reading, self._changed = True, False
        waiting, self._waiting = self._waiting, []
        try:
            self._pixels.read(partial(self._on_read, waiting))
        except OSError as error:
            self._failed.set_exception(error)

    def _resume(self) -> None:
        self._timer = None
        self._advance()

    def _on_read(self, waiting: list[Callable[[], object]], rects: list[Rect] | Exception) -> None:
        """Show what has changed, and then answer those who waited for it."""
        assert self._failed is not None
        if self._failed.done():
            return
        try:
            if not self._fits() and not isinstance(rects, OSError):
                self._resizing = asyncio.create_task(self._resize(), name="mirror resize")
                self._resizing.add_done_callback(self._on_resized)
                return
            if isinstance(rects, Exception):
                raise rects
            self._show(rects)
            for then in waiting:
                then()
        except Exception as error:  # noqa: BLE001 - `run` raises it
            self._failed.set_exception(error)
            return
        self._reading = False
        self._advance()

    def _on_resized(self, resizing: asyncio.Task[None]) -> None:
        assert self._failed is not None
        if resizing.cancelled() or self._failed.done():
            return
        if error := resizing.exception():
            self._failed.set_exception(error)
            return
        self._reading = False
        self._advance()

    def _fits(self) -> bool:
        assert self._pixels is not None
        return self._screen == (0, 0, self._pixels.width, self._pixels.height)

    async def _resize(self) -> None:
        """Begin again with the new size of the display; the clients have to connect again."""
        assert self._pixels is not None and self._server is not None
        await self._server.close()
        await self._pixels.resize()
        await self._serve(self._server.port)

    def _show(self, rects: list[Rect]) -> None:
        """Send parts of the screen, with the pointer on top."""
        assert self._pixels is not None and self._xvnc is not None and self._server is not None
        cursor, pointer = self._pixels.cursor, self._pixels.pointer
        if not (self._xvnc.pointer_shown or self._pixels.cursor_changes):
            cursor = self._cursor
        area = cursor.area(pointer, self._screen)
        if (cursor, pointer) != (self._cursor, self._pointer):
            before = self._cursor.area(self._pointer, self._screen)
            rects = [*rects, *(each for each in (before, area) if each is not None)]
            self._cursor, self._pointer = cursor, pointer
        elif area is not None and any(rect.intersection(area) for rect in rects):
            rects = [*rects, area]  # its transparent pixels are drawn over those of the display
        if not rects:
            return
        image = self._pixels.image

        def draw(frame: Frame) -> None:
            for x, y, width, height in rects:
                part = slice(y, y + height), slice(x, x + width)
                bgrx_to_rgb(image[part], frame[part])
            if area is not None:
                cursor.draw(frame, pointer, area)

        self._server.paint(rects, draw)
