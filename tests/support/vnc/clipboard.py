"""A program that owns the X selection PRIMARY and sends its text on request."""

from __future__ import annotations

import io
import select
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import xcffib
from xcffib.xproto import (
    Atom,
    PropMode,
    SelectionNotifyEvent,
    SelectionRequestEvent,
    WindowClass,
)

_CHANGE_PROPERTY = 18  # its opcode
_PIECE = 12 << 20  # bytes of one request; servers take 16 MiB


class _Owner:
    def __init__(self, display: str, length: int) -> None:
        self._length = length
        self._connection = xcffib.connect(display)
        self._core = self._connection.core
        self._targets = self._core.InternAtom(False, len("TARGETS"), "TARGETS").reply().atom
        window = self._connection.generate_id()
        screen = self._connection.setup.roots[0]
        size = (0, 0, 1, 1, 0)
        self._core.CreateWindow(
            0, window, screen.root, *size, WindowClass.InputOnly, screen.root_visual, 0, []
        )
        self._core.SetSelectionOwner(window, Atom.PRIMARY, 0)
        self._connection.flush()

    def fileno(self) -> int:
        return self._connection.get_file_descriptor()

    def serve(self) -> None:
        """Send the text to each window that has requested it."""
        while (event := self._connection.poll_for_event()) is not None:
            if isinstance(event, SelectionRequestEvent):
                self._hand_out(event)

    def _hand_out(self, request: SelectionRequestEvent) -> None:
        if request.target == self._targets:
            self._append(request, Atom.ATOM, 32, struct.pack("=I", Atom.STRING))
        for start in range(0, self._length if request.target == Atom.STRING else 0, _PIECE):
            self._append(request, Atom.STRING, 8, b"x" * min(_PIECE, self._length - start))
        notify = SelectionNotifyEvent.synthetic(
            request.time, request.requestor, request.selection, request.target, request.property
        )
        self._core.SendEvent(False, request.requestor, 0, notify.pack())
        self._connection.flush()

    def _append(self, request: SelectionRequestEvent, kind: int, width: int, data: bytes) -> None:
        # `ChangeProperty` of xcffib makes an object of each byte, which takes a minute of a busy processor for 50 MB.
        fields = (PropMode.Append, request.requestor, request.property, kind, width, len(data) * 8 // width)
        self._core.send_request(_CHANGE_PROPERTY, io.BytesIO(struct.pack("=xB2xIIIB3xI", *fields) + data))

    def close(self) -> None:
        self._connection.disconnect()


@contextmanager
def copied(display: str, length: int) -> Iterator[None]:
    """Offer `length` bytes as the selection of a display."""
    owner, over = _Owner(display, length), threading.Event()

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
        thread.join(60)
        owner.close()
