"""Functions for argparse's `type=`: each reads and checks the value of an option."""

from __future__ import annotations

import math
import socket
from argparse import ArgumentTypeError
from contextlib import suppress

_MAX_PIXELS = 16384  # of an X display, each way


def positive(text: str) -> float:
    """Return a number above 0."""
    with suppress(ValueError):
        if 0 < (number := float(text)) < math.inf:
            return number
    raise ArgumentTypeError(f"{text!r} is not a number above 0")


def count(text: str) -> int:
    """Return a whole number above 0."""
    if (number := _whole(text)) is None or number == 0:
        raise ArgumentTypeError(f"{text!r} is not a whole number above 0")
    return number


def port(text: str) -> int:
    """Return a port number; 0 stands for any free port."""
    if (number := _whole(text)) is None or number > 65535:
        raise ArgumentTypeError(f"{text!r} is not a port: 0 to 65535")
    return number


def host(text: str) -> str:
    """Return a host name or address that can be resolved."""
    try:
        socket.getaddrinfo(text, None)
    except OSError as error:
        raise ArgumentTypeError(f"{text!r}: {error.strerror}") from None
    return text


def size(text: str) -> tuple[int, int]:
    """Return the width and height in pixels of a size such as 1024x768."""
    width, height = (_whole(part) or 0 for part in text.partition("x")[::2])
    if not (0 < width <= _MAX_PIXELS and 0 < height <= _MAX_PIXELS):
        raise ArgumentTypeError(f"{text!r} is not a size such as 1024x768, of at most {_MAX_PIXELS} each way")
    return width, height


def _whole(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdecimal() else None
