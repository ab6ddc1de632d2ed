"""What one client does with the shared frames: it gets an offer, maps the memory, and holds one buffer at a time."""

from __future__ import annotations

import asyncio
import struct
import time
from collections.abc import Callable

from vnc.encodings import SHARED_FRAMES, SHARED_OFFER
from vnc.errors import ProtocolError
from vnc.server.framebuffer.screen import Screen
from vnc.server.handover import Handover

_VERSION = 1
# 1 message-type + 1 padding + 2 number-of-rects; 2 x + 2 y + 2 width + 2 height + 4 encoding; 1 version + 16 token
# + 2 length of the path
_OFFER = struct.Struct(">BxHHHHHiB16sH")
_TAIL = struct.Struct(">iI")  # 4 encoding + 4 number of the buffer


class SharedFrames:
    """The shared frames of one client, which are not used before it is `ready`.

    Args:
        screen: the screen, whose buffers the client holds.
        handover: where the client gets the memory; None if the server does not share it.
        patience: seconds in which the client has to release a buffer.
        on_stall: function that is called with a reason if it does not.
    """

    def __init__(
        self, screen: Screen, handover: Handover | None, patience: float, on_stall: Callable[[str], object]
    ) -> None:
        self._screen = screen
        self._handover = handover
        self._patience = patience
        self._on_stall = on_stall
        self._token: bytes | None = None
        self._fetched = self._ready = False
        self._held: int | None = None
        self._since = 0.0
        self._timer: asyncio.TimerHandle | None = None

    def offer(self) -> bytes:
        """Return the update that contains the offer; empty bytes after the first one, or if there is no memory."""
        if self._handover is None or self._token is not None:
            return b""
        self._token = self._handover.expect(self._note_fetch)
        path = self._handover.path.encode()
        return _OFFER.pack(0, 1, 0, 0, 0, 0, SHARED_OFFER, _VERSION, self._token, len(path)) + path

    def _note_fetch(self) -> None:
        self._fetched = True

    def begin(self) -> None:
        """Use shared frames from now on: the client has mapped the memory.

        Raises:
            ProtocolError: it did not fetch the memory, or says so again.
        """
        if not self._fetched or self._ready:
            raise ProtocolError("client is ready for shared frames that it did not fetch, or is so again")
        self._ready = True

    @property
    def ready(self) -> bool:
        """Whether the client uses shared frames."""
        return self._ready

    @property
    def holding(self) -> bool:
        """Whether the client has not released the buffer of the last update."""
        return self._held is not None

    def tail(self) -> bytes:
        """Return what follows the rectangles of an update if `hold` then succeeds; b"" if the client is not ready."""
        return _TAIL.pack(SHARED_FRAMES, self._screen.ring.newest.number) if self._ready else b""

    def hold(self) -> bool:
        """Keep the newest frame for an update; return False if the client cannot use it, or others hold too many."""
        if not self._ready or not self._screen.ring.hold():
            return False
        self._held, self._since = self._screen.ring.newest.number, time.monotonic()
        if self._timer is None:  # one timer for many updates
            self._timer = asyncio.get_running_loop().call_later(self._patience, self._check)
        return True

    def release(self, number: int) -> None:
        """Allow the buffer to be written again.

        Raises:
            ProtocolError: the client does not hold this buffer.
        """
        if number != self._held:
            held = "none" if self._held is None else f"buffer {self._held}"
            raise ProtocolError(f"client releases buffer {number} and holds {held}")
        self._screen.ring.release(number)
        self._held = None

    def close(self) -> None:
        """Release what the client holds, and make its token invalid."""
        self._ready = False
        if self._held is not None:
            self.release(self._held)
        if self._timer is not None:
            self._timer.cancel()
        if self._handover is not None and self._token is not None:
            self._handover.forget(self._token)

    def _check(self) -> None:
        self._timer = None
        if self._held is None:
            return
        left = self._since + self._patience - time.monotonic()
        if left > 0:
            self._timer = asyncio.get_running_loop().call_later(left, self._check)
        else:
            self._on_stall(f"did not release a shared frame in {self._patience:g} s")
