"""Encodings by number and by name, and the list of encodings that a client requests.

The numbers are those of RFC 6143 sections 7.7 and 7.8 and of the community's registry (rfbproto).
"""

from __future__ import annotations

import ipaddress
import secrets
import sys
from collections.abc import Iterable
from typing import Literal, get_args

RAW, COPY_RECT, RRE, HEXTILE, ZLIB, TIGHT, ZRLE = 0, 1, 2, 5, 6, 7, 16
DESKTOP_SIZE, LAST_RECT, POINTER_POSITION, CURSOR, X_CURSOR = -223, -224, -232, -239, -240
QEMU_KEYS, LED_STATE, DESKTOP_NAME, EXTENDED_DESKTOP_SIZE = -258, -261, -307, -308
FENCE, CONTINUOUS_UPDATES, EXTENDED_MOUSE_BUTTONS = -312, -313, -316
SHARED_FRAMES, SHARED_OFFER = 0x5543_0001, -0x5543_0002
"""Encodings of this project for servers on the same host: pixels in shared memory, and where the client gets it."""
MARKS = range(-0x5553_FFFF, -0x5553_0000)
"""Pseudo-encodings of this project by which a server recognises the VNC connection of a rewarder's client."""
QUALITIES = range(-32, -22)
"""JPEG quality in Tight, from 0 (the worst) to 9."""
COMPRESSION_LEVELS = range(-256, -246)
"""Effort of compression, from 0 (the least) to 9."""

Encoding = Literal["auto", "raw", "hextile", "zrle", "tight"]
"""The encodings that a user may prefer."""

BY_NAME: dict[str, int] = {
    "raw": RAW,
    "copyrect": COPY_RECT,
    "rre": RRE,
    "hextile": HEXTILE,
    "zlib": ZLIB,
    "tight": TIGHT,
    "zrle": ZRLE,
}
"""The numbers of the encodings that carry pixels, by lower-case name."""

_SHARED = (SHARED_FRAMES,) if sys.platform == "linux" else ()
_OTHERS = (TIGHT, ZRLE, HEXTILE, ZLIB, RRE)
_PSEUDO = (
    LAST_RECT,
    DESKTOP_SIZE,
    EXTENDED_DESKTOP_SIZE,
    FENCE,
    CONTINUOUS_UPDATES,
    EXTENDED_MOUSE_BUTTONS,
)


def preference(encoding: Encoding, quality: int | None, host: str) -> tuple[int, ...]:
    """Return the encoding numbers for a SetEncodings message (RFC 6143 section 7.5.2), best first.

    Of compressed encodings the server may choose another than the preferred one. If Raw is preferred, only CopyRect is
    listed beside it.

    Args:
        encoding: the preferred one. "auto" is Raw for a server on this host, where sending bytes takes less time than
            compressing them, and Tight for any other server; docs/performance.md has the measurements. A server of
            this project on this host may send frames through shared memory instead, if `quality` is None, on Linux.
        quality: JPEG quality, 0 to 9, for Tight; None for exact pixels.
        host: the server's host name or address.

    Raises:
        ValueError: `encoding` or `quality` is unknown.
    """
    if encoding == "auto":
        exact_and_near = is_this_host(host) and quality is None
        first, shared = (RAW, _SHARED) if exact_and_near else (TIGHT, ())
    elif encoding in get_args(Encoding):
        first, shared = BY_NAME[encoding], ()
    else:
        raise ValueError(f"encoding {encoding!r} is none of {', '.join(get_args(Encoding))}")
    # TigerVNC's server never sends Raw to a client that also lists a compressed encoding.
    others = [number for number in (*_OTHERS, RAW) if number != first] if first != RAW else []
    return (*shared, COPY_RECT, first, *others, *_PSEUDO, *jpeg(quality))


def jpeg(quality: int | None) -> tuple[int, ...]:
    """Return the pseudo-encoding that allows JPEG of this quality, 0 to 9; an empty tuple for None.

    Raises:
        ValueError: `quality` is out of range.
    """
    if quality is None:
        return ()
    if not 0 <= quality <= 9:
        raise ValueError(f"quality {quality} is not within 0..9")
    return (QUALITIES[quality],)


def new_mark() -> int:
    """Return a random pseudo-encoding of `MARKS`, for one connection."""
    return secrets.choice(MARKS)


def mark_of(encodings: Iterable[int]) -> int | None:
    """Return the mark among the encodings of a client; None if it has none."""
    return next((number for number in encodings if number in MARKS), None)


def is_this_host(host: str) -> bool:
    """Whether a host name or address is a loopback one; other names are not looked up."""
    try:
        return ipaddress.ip_address(host.partition("%")[0]).is_loopback
    except ValueError:
        return host == "localhost"
