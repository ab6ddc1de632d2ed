"""A VNC client that sends keyboard and mouse events and requests no pixels."""

from __future__ import annotations

import socket
import time
from collections.abc import Sequence
from types import TracebackType

from universe_client.spaces import actions
from vnc.events import Event, encode

PACE = 0.015
"""Seconds between two events of a drag."""


class Hand:
    """Connects without a password and sends events over the network, as an agent does."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), 60)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        assert self._read(12).startswith(b"RFB 003.")
        self._socket.sendall(b"RFB 003.008\n")
        assert 1 in self._read(self._read(1)[0]), "the server wants a password"
        self._socket.sendall(b"\x01")
        assert self._read(4) == bytes(4)
        self._socket.sendall(b"\x01")
        self._read(int.from_bytes(self._read(24)[20:], "big"))

    def __enter__(self) -> Hand:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._socket.close()

    def do(self, events: Sequence[Event]) -> None:
        self._socket.sendall(encode(events))

    def type(self, text: str) -> None:
        self.do(actions.type_text(text))

    def chord(self, *keys: str) -> None:
        self.do(actions.chord(*keys))

    def click(self, x: int, y: int, count: int = 1) -> None:
        self.do(actions.click(x, y, count=count))

    def drag(self, start: tuple[int, int], end: tuple[int, int]) -> None:
        """Drag at a person's pace: the window manager misses a drag that is too fast."""
        self.hold(start, end)
        self.do(actions.move(*end))

    def hold(self, start: tuple[int, int], end: tuple[int, int]) -> None:
        """As `drag`, without releasing the button."""
        for event in actions.drag(start, end)[:-1]:
            self.do([event])
            time.sleep(PACE)

    def _read(self, length: int) -> bytes:
        data = b""
        while len(data) < length:
            piece = self._socket.recv(length - len(data))
            assert piece, "the server hung up"
            data += piece
        return data
