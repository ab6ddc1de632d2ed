"""Read the standard input of a remote's process."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from contextlib import suppress

STDIN = 0


def read_line(descriptor: int = STDIN, limit: int = 4096) -> bytes:
    """Read one line without reading past it.

    Raises:
        ValueError: the line is longer than `limit`, or the input ended before its newline.
    """
    line = b""
    while not line.endswith(b"\n"):
        byte = os.read(descriptor, 1)
        if not byte or len(line) >= limit:
            raise ValueError(f"no line within {limit} bytes of input")
        line += byte
    return line


def on_end(ended: Callable[[], None]) -> None:
    """Call `ended` on another thread when stdin ends."""

    def watch() -> None:
        # Unbuffered reads, because the interpreter waits at exit for the lock of a buffered reader.
        with suppress(ConnectionResetError):  # a socket whose other end was closed with unread data in it
            while os.read(STDIN, 4096):
                pass
        ended()

    threading.Thread(target=watch, name="stdin", daemon=True).start()
