"""The pixels of an X display through shared memory (MIT-SHM), read where they have changed (DAMAGE).

The mouse pointer is not among them; XFIXES tells its shape, and XInputExtension when it moves.
"""

from __future__ import annotations

import asyncio
import mmap
import os
import struct
from collections.abc import Callable, Iterable, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from rewarder.display.cursor import Cursor
from rewarder.display.x11_stream import GENERIC_EVENT, XError, XStream, request
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

_Bands = list[tuple[int, int]]
"""Rows, as few (first, end)."""
_Then = Callable[[list[Rect] | Exception], object]


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
        """Connect. `on_change` is called when the display has changed; hardly again until the next `read`.

        Raises:
            OSError: the X server refuses the connection.
        """
        self._x = XStream(path, cookie, self._on_event, self._on_processed)
        self._on_change, self._changed = on_change, False
        self.width, self.height = self._x.setup.width, self._x.setup.height
        self.image: NDArray[np.uint8] = np.zeros((0, 0, 4), np.uint8)
        self.pointer = (0, 0)
        self.cursor, self.cursor_changes = Cursor(), 0
        self._known_cursor = -1  # the value of `cursor_changes` that `cursor` belongs to
        self._segment = 0
        self._expected: _Bands = []  # rows that are read before it is known what has changed
        self._last: _Bands = []  # rows that had changed at the last `read`
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
        self._expected = self._last = []
        self._known_cursor = self.cursor_changes
        x.send(self._damage, _DAMAGE_SUBTRACT, struct.pack("<III", self._changes, 0, self._region))
        pointer, shape, _ = await asyncio.gather(
            x.ask(_QUERY_POINTER, 0, struct.pack("<I", x.setup.root)),
            x.ask(self._fixes, _FIXES_CURSOR_IMAGE),
            x.ask(self._shm, _SHM_GET_IMAGE, self._place(0, self.height)),
        )
        self.pointer, self.cursor = _pointer(pointer), _cursor(shape)

    def read(self, then: Callable[[list[Rect] | Exception], object]) -> None:
        """Copy what has changed since the last `read` into `image`.

        A program that draws the same rows again and again costs one round trip for each of its frames, not two.

        Args:
            then: function that is called later, with where that is, or with an error: `XError` if the display has
                another size now, `OSError` if the connection was lost.

        Raises:
            OSError: the connection was lost.
        """
        subtract = struct.pack("<III", self._changes, 0, self._region)
        asked = [
            request(self._fixes, _FIXES_FETCH_REGION, struct.pack("<I", self._region)),
            request(_QUERY_POINTER, 0, struct.pack("<I", self._x.setup.root)),
            *self._images(self._expected),
        ]
        new_shape = self._known_cursor != self.cursor_changes
        if new_shape:
            self._known_cursor = self.cursor_changes
            asked.append(request(self._fixes, _FIXES_CURSOR_IMAGE))
        silent = [request(self._damage, _DAMAGE_SUBTRACT, subtract)]
        self._x.exchange(silent, asked, partial(self._on_region, then, new_shape))

    def _on_region(self, then: _Then, new_shape: bool, replies: list[bytes] | Exception) -> None:
        if isinstance(replies, Exception):
            then(replies)
            return
        self.pointer = _pointer(replies[1])
        if new_shape:
            self.cursor = _cursor(replies[-1])
        rects = bounded(_rects(replies[0], Rect(0, 0, self.width, self.height)))
        bands = _bands(rects)
        known = set(bands) <= set(self._expected)
        self._expected, self._last = bands if bands == self._last else [], bands
        if known:
            then(rects)
            return

        def on_images(replies: list[bytes] | Exception) -> None:
            then(replies if isinstance(replies, Exception) else rects)

        self._x.exchange((), self._images(bands), on_images)

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

    def _images(self, bands: Iterable[tuple[int, int]]) -> list[bytes]:
        return [request(self._shm, _SHM_GET_IMAGE, self._place(top, bottom)) for top, bottom in bands]

    def _place(self, top: int, bottom: int) -> bytes:
        """Return a request for whole rows, because the server writes a rectangle without gaps between its rows."""
        area = self._x.setup.root, 0, top, self.width, bottom - top
        return struct.pack("<IhhHHIB3xII", *area, _ALL_PLANES, _Z_PIXMAP, self._segment, top * self.width * 4)

    def _on_event(self, event: bytes) -> None:
        if event[0] == self._cursor_notify:
            self.cursor_changes += 1
        elif event[0] == _CONFIGURE_NOTIFY:
            # 8 head and event + 8 window and above + 4 position + 2 width + 2 height
            self.width, self.height = struct.unpack_from("<20xHH", event)
        elif event[0] not in (self._damaged, GENERIC_EVENT):
            return
        self._changed = True

    def _on_processed(self) -> None:
        if self._changed:
            self._changed = False
            self._on_change()


def _pointer(reply: bytes) -> tuple[int, int]:
    """Return the position of the pointer from the reply to QueryPointer."""
    x, y = struct.unpack_from("<16xhh", reply)
    return x, y


def _cursor(image: bytes) -> Cursor:
    """Return the shape of the pointer from the reply to GetCursorImage."""
    # 8 head + 4 position + 2 width + 2 height + 2 x + 2 y of the hot spot + 12 serial and padding
    width, height, hot_x, hot_y = struct.unpack_from("<12xHHHH", image)
    pixels = np.frombuffer(image, np.uint8, 4 * width * height, 32).reshape(height, width, 4)
    return Cursor(hot_x, hot_y, pixels[..., [2, 1, 0, 3]]) if pixels[..., 3].any() else Cursor()


def _rects(region: bytes, screen: Rect) -> list[Rect]:
    """Return the rectangles of a region that are on the screen."""
    count = (len(region) - 32) // 8
    found = (Rect(*struct.unpack_from("<hhHH", region, 32 + 8 * i)) for i in range(count))
    return [each for rect in found if (each := rect.intersection(screen)) is not None]


def _bands(rects: Sequence[Rect]) -> _Bands:
    """Return the rows that rectangles cover."""
    bands: _Bands = []
    for top, bottom in sorted((rect.y, rect.y + rect.height) for rect in rects):
        if bands and top <= bands[-1][1]:
            bands[-1] = bands[-1][0], max(bands[-1][1], bottom)
        else:
            bands.append((top, bottom))
    return bands
