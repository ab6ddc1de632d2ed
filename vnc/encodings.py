"""Encodings by number and by name, and which of them a client asks for."""

from __future__ import annotations

import ipaddress
from typing import Literal, get_args

RAW, COPY_RECT, RRE, HEXTILE, ZLIB, TIGHT, ZRLE = 0, 1, 2, 5, 6, 7, 16
LAST_RECT, DESKTOP_SIZE, EXTENDED_DESKTOP_SIZE, FENCE, CONTINUOUS_UPDATES = -224, -223, -308, -312, -313
_WORST_QUALITY = -32  # ... to -23, the best: JPEG in Tight (RFC 6143 section 7.7.6 has the rest of Tight)

Encoding = Literal["auto", "raw", "hextile", "zrle", "tight"]

BY_NAME: dict[str, int] = {
    "raw": RAW,
    "copyrect": COPY_RECT,
    "rre": RRE,
    "hextile": HEXTILE,
    "zlib": ZLIB,
    "tight": TIGHT,
    "zrle": ZRLE,
}
_OTHERS = (TIGHT, ZRLE, HEXTILE, ZLIB, RRE)
_PSEUDO = (LAST_RECT, DESKTOP_SIZE, EXTENDED_DESKTOP_SIZE, FENCE, CONTINUOUS_UPDATES)


def preference(encoding: Encoding, quality: int | None, host: str) -> tuple[int, ...]:
    """Return the encoding numbers to ask a server for, best first.

    Args:
        encoding: the one preferred. "auto" is Raw for a server on this host, where bytes are cheaper than the time
            both ends spend on compressing them, and Tight for any other: docs/performance.md has the
            measurements.
        quality: of JPEG, 0 to 9, where Tight may use it; None keeps pixels exact.
        host: of the server.

    Raises:
        ValueError: there is no such encoding, or no such quality.
    """
    if encoding == "auto":
        first = RAW if _is_this_host(host) and quality is None else TIGHT
    elif encoding in get_args(Encoding):
        first = BY_NAME[encoding]
    else:
        raise ValueError(f"encoding {encoding!r} is none of {', '.join(get_args(Encoding))}")
    rest = [number for number in (*_OTHERS, RAW) if number != first]
    return (COPY_RECT, first, *rest, *_PSEUDO, *jpeg(quality))


def jpeg(quality: int | None) -> tuple[int, ...]:
    """Return the pseudo-encoding that allows JPEG of this quality, 0 to 9; nothing for None.

    Raises:
        ValueError: there is no such quality.
    """
    if quality is None:
        return ()
    if not 0 <= quality <= 9:
        raise ValueError(f"quality {quality} is not within 0..9")
    return (_WORST_QUALITY + quality,)


def _is_this_host(host: str) -> bool:
    try:
        return ipaddress.ip_address(host.partition("%")[0]).is_loopback
    except ValueError:
        return host == "localhost"
