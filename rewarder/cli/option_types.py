"""What the values of command line options may be: functions for argparse's `type=`, which say what is wrong."""

from __future__ import annotations

import math
import socket
from argparse import ArgumentTypeError
from contextlib import suppress

_MOST_PIXELS = 16384  # each way, of an X display


def positive(text: str) -> float:
    """Read a number above 0."""
    with suppress(ValueError):
        if 0 < (number := float(text)) < math.inf:
            return number
    raise ArgumentTypeError(f"{text!r} is not a number above 0")


def count(text: str) -> int:
    """Read a whole number above 0."""
    if (number := _whole(text)) is None or number == 0:
        raise ArgumentTypeError(f"{text!r} is not a whole number above 0")
    return number


def port(text: str) -> int:
    """Read the number of a port; 0 is any."""
    if (number := _whole(text)) is None or number > 65535:
        raise ArgumentTypeError(f"{text!r} is not a port: 0 to 65535")
    return number


def host(text: str) -> str:
    """Read a name or a number that leads to an address."""
    try:
        socket.getaddrinfo(text, None)
    except OSError as error:
        raise ArgumentTypeError(f"{text!r}: {error.strerror}") from None
    return text


def size(text: str) -> tuple[int, int]:
    """Read a width and a height in pixels, such as 1024x768."""
    width, height = (_whole(part) or 0 for part in text.partition("x")[::2])
    if not (0 < width <= _MOST_PIXELS and 0 < height <= _MOST_PIXELS):
        raise ArgumentTypeError(
            f"{text!r} is not a size such as 1024x768, of at most {_MOST_PIXELS} each way"
        )
    return width, height


def _whole(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdecimal() else None
