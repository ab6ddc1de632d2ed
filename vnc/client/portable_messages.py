"""Messages of the portable driver: requests for pixels, and what it reads beside updates (RFC 6143, rfbproto)."""

from __future__ import annotations

import struct
from collections.abc import Iterable

from vnc import fences
from vnc.client.portable_reader import Stream
from vnc.encodings import EXTENDED_MOUSE_BUTTONS, FENCE, RAW, ZLIB, mark_of
from vnc.errors import LimitExceeded, ProtocolError

# 1 message-type + 3 padding + 16 pixel format (32 bits, depth 24, little-endian R, G, B, unused) ; RFC 6143 7.5.1
SET_PIXEL_FORMAT = bytes([0, 0, 0, 0, 32, 24, 0, 1, 0, 255, 0, 255, 0, 255, 0, 8, 16, 0, 0, 0])

BELL = b"\2"  # the whole message (RFC 6143 section 7.6.3)
_PIECE = 64 * 1024
"""Skipped bytes are read in pieces of this size."""


def set_encodings(requested: Iterable[int]) -> bytes:
    """Return a SetEncodings with what the driver knows, and the mark among `requested` (RFC 6143 section 7.5.2)."""
    mark = mark_of(requested)
    numbers = [ZLIB, RAW, FENCE, EXTENDED_MOUSE_BUTTONS, *([] if mark is None else [mark])]
    return struct.pack(f">BxH{len(numbers)}i", 2, len(numbers), *numbers)


def request(incremental: bool, width: int, height: int) -> bytes:
    """Return a FramebufferUpdateRequest for the top left part of the screen (RFC 6143 section 7.5.3)."""
    return struct.pack(">BBHHHH", 3, incremental, 0, 0, width, height)


async def skip_colour_map(stream: Stream) -> None:
    """Read SetColourMapEntries after its type."""
    # 1 padding + 2 first colour + 2 number of colours, then 6 bytes each (RFC 6143 section 7.6.2)
    _, _, count = struct.unpack(">BHH", await stream.readexactly(5))
    await stream.readexactly(6 * count)


async def skip_cut_text(stream: Stream, server: object) -> int:
    """Read ServerCutText after its type; return the length of its text. Errors name `server`.

    Raises:
        ProtocolError: it is a message of the extended clipboard, which the client did not request.
    """
    # 3 padding + 4 length (RFC 6143 section 7.6.4), negative for the extended clipboard (rfbproto 7.7.27)
    (length,) = struct.unpack(">xxxi", await stream.readexactly(7))
    if length < 0:
        raise ProtocolError(
            f"{server}: cut text of length {length}: the extended clipboard was not requested"
        )
    left: int = length
    while left:
        left -= len(await stream.readexactly(min(left, _PIECE)))
    return int(length)


async def read_fence(stream: Stream, server: object) -> tuple[int, bytes]:
    """Read ServerFence after its type; return its flags and its payload. Errors name `server`.

    Raises:
        LimitExceeded: the payload is longer than `fences.MAX_PAYLOAD`.
    """
    flags, length = fences.HEAD.unpack(await stream.readexactly(fences.HEAD.size))
    if length > fences.MAX_PAYLOAD:
        raise LimitExceeded(f"{server}: fence payload of {length} bytes, the limit is {fences.MAX_PAYLOAD}")
    return flags, await stream.readexactly(length)
