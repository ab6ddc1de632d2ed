"""The Fence messages (rfbproto 7.4.8 and 7.6.9), which a peer answers in order with its other messages."""

from __future__ import annotations

import struct

MESSAGE = 248
"""Type of ClientFence and ServerFence."""
REQUEST, BLOCK_BEFORE, BLOCK_AFTER = 1 << 31, 1, 2
"""Flags: the peer has to answer; it answers after all earlier messages; it holds back later ones until then."""
FLAGS = 7
"""All flags beside `REQUEST`: block before, block after, synchronise with the next message."""
MAX_PAYLOAD = 64
"""The most bytes of a payload."""

HEAD = struct.Struct(">xxxIB")  # after the message-type: 3 padding + 4 flags + 1 payload-length


def encode(flags: int, payload: bytes) -> bytes:
    """Return the message, which is the same from client and server."""
    return bytes([MESSAGE]) + HEAD.pack(flags, len(payload)) + payload
