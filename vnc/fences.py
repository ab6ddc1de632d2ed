"""Fences (rfbproto 7.4.8 and 7.6.9): messages that come back in the order of what was sent before them."""

from __future__ import annotations

import struct

MESSAGE = 248
"""Type of ClientFence and ServerFence."""
REQUEST, BLOCK_BEFORE, BLOCK_AFTER = 1 << 31, 1, 2
"""Flags: an answer is wanted; it waits for the messages before, or keeps back those behind."""
MAX_PAYLOAD = 64
"""Bytes, at most."""

HEAD = struct.Struct(">xxxIB")  # 3 padding + 4 flags + 1 length of the payload, behind the message-type


def encode(flags: int, payload: bytes) -> bytes:
    """Return the message, from either end."""
    return bytes([MESSAGE]) + HEAD.pack(flags, len(payload)) + payload
