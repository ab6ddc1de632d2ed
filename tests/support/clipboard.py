"""A program that owns the X selection PRIMARY and sends its text on request."""

from __future__ import annotations

import select
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from rewarder.display.x11 import XClient

_CREATE_WINDOW, _INTERN_ATOM, _CHANGE_PROPERTY, _SET_SELECTION_OWNER, _SEND_EVENT = 1, 16, 18, 22, 25
_QUERY_EXTENSION = 98
_SELECTION_REQUEST, _SELECTION_NOTIFY = 30, 31
_PRIMARY, _ATOM, _STRING = 1, 4, 31  # predefined atoms
_APPEND = 2
_EVENT = struct.Struct("<BxHIIIIII4x")
_PIECE = 12 << 20  # bytes of one request; servers take 16 MiB


class _Owner(XClient):
    def __init__(self, display: str) -> None:
        super().__init__(f"/tmp/.X11-unix/X{display.removeprefix(':')}", bytes(16))
        self._length = 0
        self._window = self._id_base + 1
        self._socket.setblocking(True)
        self._targets = struct.unpack_from("<8xI", self._named(_INTERN_ATOM, b"TARGETS"))[0]
        (big_requests,) = struct.unpack_from("<9xB", self._named(_QUERY_EXTENSION, b"BIG-REQUESTS"))
        self._ask(struct.pack("<BBH", big_requests, 0, 1))

    def _named(self, request: int, name: bytes) -> bytes:
        padded = name + bytes(-len(name) % 4)
        return self._ask(struct.pack("<BBHHxx", request, 0, 2 + len(padded) // 4, len(name)) + padded)

    def _ask(self, request: bytes) -> bytes:
        self._socket.sendall(request)
        return self._read_exactly(_EVENT.size)

    def copy(self, length: int) -> None:
        """Own the selection, with `length` bytes of text."""
        self._length = length
        geometry = struct.pack("<hhHHHHII", 0, 0, 1, 1, 0, 2, 0, 0)
        self._socket.sendall(
            struct.pack("<BBHII", _CREATE_WINDOW, 0, 8, self._window, self.root)
            + geometry
            + struct.pack("<BxHIII", _SET_SELECTION_OWNER, 4, self._window, _PRIMARY, 0)
        )

    def serve(self) -> None:
        """Receive an event, and send the text to the window that requests it."""
        code, _, time, _, requestor, selection, target, where = _EVENT.unpack(self._read_exactly(_EVENT.size))
        if code == _SELECTION_REQUEST:
            self._hand_out(requestor, target, where)
            notify = _EVENT.pack(_SELECTION_NOTIFY, 0, time, requestor, selection, target, where, 0)
            self._socket.sendall(struct.pack("<BBHII", _SEND_EVENT, 0, 11, requestor, 0) + notify)

    def _hand_out(self, requestor: int, target: int, where: int) -> None:
        if target == self._targets:
            self._append(requestor, where, _ATOM, 32, struct.pack("<I", _STRING))
        for start in range(0, self._length if target == _STRING else 0, _PIECE):
            self._append(requestor, where, _STRING, 8, b"x" * min(_PIECE, self._length - start))

    def _append(self, window: int, where: int, kind: int, width: int, data: bytes) -> None:
        # With BIG-REQUESTS, a length of zero means that the length follows in 4 bytes.
        units = 7 + len(data) // 4
        head = struct.pack("<BBHIIIIBxxx", _CHANGE_PROPERTY, _APPEND, 0, units, window, where, kind, width)
        self._socket.sendall(head + struct.pack("<I", len(data) * 8 // width) + data)


@contextmanager
def copied(display: str, length: int) -> Iterator[None]:
    """Offer `length` bytes, a multiple of four, as the selection of a display."""
    owner, over = _Owner(display), threading.Event()
    owner.copy(length)

    def serve() -> None:
        while not over.is_set():
            if select.select([owner], [], [], 0.05)[0]:
                owner.serve()

    thread = threading.Thread(target=serve, name="clipboard")
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join(20)
        owner.close()
