"""The pixels of an X display through shared memory (MIT-SHM), read where they have changed (DAMAGE).

The mouse pointer is not among them; XFIXES tells its shape, and XInputExtension when it moves.
"""

from __future__ import annotations

import asyncio
import mmap
import os
import struct
from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from rewarder.display.cursor import Cursor
from rewarder.display.x11_stream import GENERIC_EVENT, XError, XStream
from vnc.server.framebuffer.damage import Rect, bounded

_CONFIGURE_NOTIFY, _QUERY_POINTER = 22, 38
_STRUCTURE_NOTIFY = 1 << 17
_VERSION = 0
_FIXES_SELECT_CURSOR, _FIXES_CURSOR_IMAGE, _FIXES_CREATE_REGION, _FIXES_FETCH_REGION = 3, 4, 5, 19
_CURSOR_NOTIFY = 1  # after the first event of XFIXES
_DAMAGE_CREATE, _DAMAGE_SUBTRACT = 1, 3
_SHM_DETACH, _SHM_GET_IMAGE, _SHM_ATTACH_FD = 2, 4, 6
_NON_EMPTY = 3  # one event when the damage becomes non-empty; the next after it was subtracted
_INPUT_SELECT, _INPUT_VERSION = 46, 47
_FAKE_INPUT, _PRESS, _RELEASE, _MOTION = 2, 4, 5, 6
_ALL_MASTERS, _RAW_MOTION = 1, 1 << 17
_Z_PIXMAP, _ALL_PLANES = 2, 0xFFFFFFFF
_DEPTH = 24


class XPixels:
    """A copy of a display's pixels, in memory that the X server writes to.

    Attributes:
        width, height: of the display.
        image: the copy, shape (height, width, 4): blue, green, red and an unused byte, without the pointer.
        pointer: the position (x, y) of the mouse pointer at the last `read`.
        cursor: its shape at the last `read`.
        cursor_changes: how many times the shape has changed since `start`.
    """

    def __init__(self, path: str, cookie: bytes, on_change: Callable[[], object]) -> None:
        """Connect. `on_change` is called when the display has changed; then not again until the next `read`.

        Raises:
            OSError: the X server refuses the connection.
        """
        self._x = XStream(path, cookie, self._on_event)
        self._on_change = on_change
        self.width, self.height = self._x.setup.width, self._x.setup.height
        self.image: NDArray[np.uint8] = np.zeros((0, 0, 4), np.uint8)
        self.pointer = (0, 0)
        self.cursor, self.cursor_changes = Cursor(), 0
        self._known_cursor = -1  # the value of `cursor_changes` that `cursor` belongs to
        self._segment = 0
        self._damaged = (
            self._cursor_notify
        ) = -1  # the X server may send other events before `start` knows these

    async def start(self) -> None:
        """Prepare the extensions and the memory, and read the whole display.

        Raises:
            XError: the X server does not have an extension, or keeps pixels in another format.
            OSError: the connection was lost, or there is no memory.
        """
        x = self._x
        await x.start()
        if x.setup.depth != _DEPTH:
            raise XError(f"the display has {x.setup.depth} bits per pixel, not {_DEPTH}")
        self._shm, _ = await x.extension("MIT-SHM")
        self._fixes, first = await x.extension("XFIXES")
        self._cursor_notify = first + _CURSOR_NOTIFY
        motion, _ = await x.extension("XInputExtension")
        self._test, _ = await x.extension("XTEST")
        self._damage, self._damaged = await x.extension("DAMAGE")
        await x.ask(self._shm, _VERSION)
        await x.ask(self._fixes, _VERSION, struct.pack("<II", 2, 0))
        await x.ask(self._damage, _VERSION, struct.pack("<II", 1, 1))
        await x.ask(motion, _INPUT_VERSION, struct.pack("<HH", 2, 2))
        root = x.setup.root
        x.send(motion, _INPUT_SELECT, struct.pack("<IH2xHHI", root, 1, _ALL_MASTERS, 1, _RAW_MOTION))
        x.send(self._fixes, _FIXES_SELECT_CURSOR, struct.pack("<II", root, 1))
        self._region, self._changes = x.new_id(), x.new_id()
        x.select_events(_STRUCTURE_NOTIFY)
        x.send(self._fixes, _FIXES_CREATE_REGION, struct.pack("<I", self._region))
        create = struct.pack("<IIB3x", self._changes, root, _NON_EMPTY)
        x.send(self._damage, _DAMAGE_CREATE, create)
        await self.resize()

    async def resize(self) -> None:
        """Share memory for the present size of the display, and read it whole.

        Raises:
            XError, OSError: as `start`.
        """
        x = self._x
        if self._segment:
            x.send(self._shm, _SHM_DETACH, struct.pack("<I", self._segment))
        self._segment, size = x.new_id(), self.width * self.height * 4
        file = os.memfd_create("universe-client-display", os.MFD_CLOEXEC)
        try:
            os.ftruncate(file, size)
            memory = mmap.mmap(file, size)
            x.send_with_file(self._shm, _SHM_ATTACH_FD, struct.pack("<IB3x", self._segment, False), file)
        finally:
            os.close(file)
        self.image = np.frombuffer(memory, np.uint8).reshape(self.height, self.width, 4)
        await self.read()
        await asyncio.gather(*self._read_rows([(0, self.height)]))

    async def read(self) -> list[Rect]:
        """Copy what has changed since the last `read` into `image`; return where that is.

        Raises:
            XError: the display has another size now.
            OSError: the connection was lost.
        """
        x = self._x
        x.send(self._damage, _DAMAGE_SUBTRACT, struct.pack("<III", self._changes, 0, self._region))
        region, pointer = await asyncio.gather(
            x.ask(self._fixes, _FIXES_FETCH_REGION, struct.pack("<I", self._region)),
            x.ask(_QUERY_POINTER, 0, struct.pack("<I", x.setup.root)),
        )
        self.pointer = struct.unpack_from("<16xhh", pointer)
        if self._known_cursor != self.cursor_changes:
            self._known_cursor = self.cursor_changes
            self.cursor = _cursor(await x.ask(self._fixes, _FIXES_CURSOR_IMAGE))
        rects = bounded(_rects(region, Rect(0, 0, self.width, self.height)))
        if rects:
            await asyncio.gather(*self._read_rows(_bands(rects)))
        return rects

    def push(self, button: int, down: bool, x: int, y: int) -> None:
        """Move the pointer, then press or release one of its buttons, with XTEST; for buttons that Xvnc does not know.

        Raises:
            OSError: the connection was lost.
        """
        for kind, detail in ((_MOTION, 0), (_PRESS if down else _RELEASE, button)):
            event = struct.pack("<BB2xII8xhh8x", kind, detail, 0, self._x.setup.root, x, y)
            self._x.send(self._test, _FAKE_INPUT, event)

    def close(self) -> None:
        """Disconnect; idempotent."""
        self._x.close()

    def _read_rows(self, bands: Iterable[tuple[int, int]]) -> list[asyncio.Future[bytes]]:
        """Request whole rows, because the server writes a rectangle without gaps between its rows."""
        replies = []
        for top, bottom in bands:
            area = (self._x.setup.root, 0, top, self.width, bottom - top)
            place = (self._segment, top * self.width * 4)
            image = struct.pack("<IhhHHIB3xII", *area, _ALL_PLANES, _Z_PIXMAP, *place)
            replies.append(self._x.ask(self._shm, _SHM_GET_IMAGE, image))
        return replies

    def _on_event(self, event: bytes) -> None:
        if event[0] in (self._damaged, GENERIC_EVENT):
            self._on_change()
        elif event[0] == self._cursor_notify:
            self.cursor_changes += 1
            self._on_change()
        elif event[0] == _CONFIGURE_NOTIFY:
            # 8 head and event + 8 window and above + 4 position + 2 width + 2 height
            self.width, self.height = struct.unpack_from("<20xHH", event)
            self._on_change()


def _cursor(image: bytes) -> Cursor:
    """Return the shape of the pointer from the reply to GetCursorImage."""
    # 8 head + 4 position + 2 width + 2 height + 2 x + 2 y of the hot spot + 12 serial and padding
    width, height, hot_x, hot_y = struct.unpack_from("<12xHHHH", image)
    pixels = np.frombuffer(image, np.uint8, 4 * width * height, 32).reshape(height, width, 4)
    return Cursor(hot_x, hot_y, pixels[..., [2, 1, 0, 3]])


def _rects(region: bytes, screen: Rect) -> list[Rect]:
    """Return the rectangles of a region that are on the screen."""
    count = (len(region) - 32) // 8
    found = (Rect(*struct.unpack_from("<hhHH", region, 32 + 8 * i)) for i in range(count))
    return [each for rect in found if (each := rect.intersection(screen)) is not None]


def _bands(rects: Sequence[Rect]) -> list[tuple[int, int]]:
    """Return the rows that rectangles cover, as few (first, end)."""
    bands: list[tuple[int, int]] = []
    for top, bottom in sorted((rect.y, rect.y + rect.height) for rect in rects):
        if bands and top <= bands[-1][1]:
            bands[-1] = bands[-1][0], max(bands[-1][1], bottom)
        else:
            bands.append((top, bottom))
    return bands
