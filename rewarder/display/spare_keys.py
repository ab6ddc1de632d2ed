"""Free keycodes for Xvnc, so that any text can be typed on a display, however long it runs.

A keyboard has 248 keycodes. Xvnc gives each character that its layout lacks a free keycode, for ever: without help it
drops all further characters when it has none left, after about 19.
"""

from __future__ import annotations

import asyncio
import logging
import struct
import threading
from contextlib import suppress

from rewarder.display.x11_stream import GENERIC_EVENT, XError, XStream

FIRST, COUNT = 8, 248
"""The keycodes of X11."""
RESERVE = 24
"""Keycodes that are kept free."""
REST = 1.0
"""Seconds after its last press in which a keycode keeps its character: programs may look it up late."""

_CHANGE_MAPPING, _GET_MAPPING = 100, 101
_INPUT_SELECT, _INPUT_VERSION = 46, 47
_ALL_MASTERS, _RAW_KEY_PRESS = 1, 13
_MEDIA = 0x1008FF  # the keysyms of X.org for media keys, such as 0x1008ff13, XF86AudioRaiseVolume

log = logging.getLogger(__name__)


class SpareKeys:
    """Frees the keycodes that were pressed longest ago, on a thread of its own.

    The keycodes of media keys are free from the beginning: Xvnc gives them a keycode when they are pressed.
    """

    def __init__(self, path: str, cookie: bytes) -> None:
        """Begin. `path` is the X server's Unix socket, `cookie` its MIT-MAGIC-COOKIE-1."""
        self._path, self._cookie = path, cookie
        self._spare: frozenset[int] = frozenset()
        self._pressed: dict[int, float] = {}  # when each spare keycode was pressed last, the oldest first
        self._loop = asyncio.new_event_loop()
        self._task = self._loop.create_task(self._keep())
        self._thread = threading.Thread(target=self._run, name="spare keys", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End the thread, also if the X server hangs."""
        self._loop.call_soon_threadsafe(self._task.cancel)
        self._thread.join()
        self._loop.close()

    def _run(self) -> None:
        with suppress(asyncio.CancelledError):
            self._loop.run_until_complete(self._task)
        self._loop.run_until_complete(asyncio.sleep(0))  # asyncio closes the socket

    async def _keep(self) -> None:
        try:
            self._x = XStream(self._path, self._cookie, self._on_event)
            try:
                await self._start()
                await self._loop.create_future()
            finally:
                self._x.close()
        except (OSError, XError) as error:
            log.info("= a text with many characters that the layout lacks cannot be typed: %s", error)

    async def _start(self) -> None:
        x = self._x
        await x.start()
        inputs, _ = await x.extension("XInputExtension")
        await x.ask(inputs, _INPUT_VERSION, struct.pack("<HH", 2, 2))
        reply = await x.ask(_GET_MAPPING, 0, struct.pack("<BB2x", FIRST, COUNT))
        media = self._find(reply)
        mask = 1 << _RAW_KEY_PRESS
        x.send(inputs, _INPUT_SELECT, struct.pack("<IH2xHHI", x.setup.root, 1, _ALL_MASTERS, 1, mask))
        for keycode in media:
            self._free(keycode)

    def _find(self, mapping: bytes) -> list[int]:
        """Find the spare keycodes; return those of media keys."""
        width = mapping[1]
        keysyms = struct.unpack_from(f"<{COUNT * width}I", mapping, 32)
        rows = {FIRST + row: set(keysyms[row * width : (row + 1) * width]) - {0} for row in range(COUNT)}
        media = [keycode for keycode, row in rows.items() if row and all(key >> 8 == _MEDIA for key in row)]
        self._spare = frozenset(media) | {keycode for keycode, row in rows.items() if not row}
        return media

    def _on_event(self, event: bytes) -> None:
        kind, keycode = struct.unpack_from("<8xH6xI", event)
        if event[0] & 0x7F == GENERIC_EVENT and kind == _RAW_KEY_PRESS and keycode in self._spare:
            self._pressed.pop(keycode, None)
            self._pressed[keycode] = self._loop.time()
            self._make_room()

    def _make_room(self) -> None:
        while self._pressed and len(self._pressed) > len(self._spare) - RESERVE:
            keycode, moment = next(iter(self._pressed.items()))
            if (early := moment + REST - self._loop.time()) > 0:
                self._loop.call_later(early, self._make_room)
                return
            del self._pressed[keycode]
            self._free(keycode)

    def _free(self, keycode: int) -> None:
        with suppress(OSError):  # the display has ended
            self._x.send(_CHANGE_MAPPING, 1, struct.pack("<BB2xI", keycode, 1, 0))
