"""The server's end of VeNCrypt, in the test's hands."""

from __future__ import annotations

import ssl
import struct
from collections.abc import Awaitable, Callable

from tests.support.rfb import Peer, raw

TLS_NONE, TLS_VNC, TLS_PLAIN, X509_NONE, X509_VNC, X509_PLAIN = range(257, 263)
ANONYMOUS = "ADH:AECDH:@SECLEVEL=0"
"""What OpenSSL calls TLS without a certificate."""


async def agree(peer: Peer, *offered: int) -> int:
    """The server's half of VeNCrypt up to TLS; the sub-type that the client chose."""
    await peer.greet()
    peer.write(b"\x02\x02\x13")
    assert await peer.read(1) == b"\x13"
    peer.write(b"\x00\x02")
    assert await peer.read(2) == b"\x00\x02"
    peer.write(b"\x00" + struct.pack(f">B{len(offered)}I", len(offered), *offered))
    (chosen,) = struct.unpack(">I", await peer.read(4))
    return chosen


async def secured(peer: Peer, context: ssl.SSLContext, *offered: int) -> int:
    """... and TLS."""
    chosen = await agree(peer, *offered)
    peer.write(b"\x01")
    await peer.writer.start_tls(context)
    return chosen


Talk = Callable[[Peer], Awaitable[None]]


def honest(context: ssl.SSLContext, sub_type: int, login: Talk, afterwards: Talk = Peer.idle) -> Talk:
    """A server of one sub-type that shows one grey frame."""

    async def talk(peer: Peer) -> None:
        assert await secured(peer, context, sub_type) == sub_type
        await login(peer)
        peer.write(bytes(4))
        await peer.init()
        await peer.request()
        peer.update(raw(7))
        await peer.request()
        await afterwards(peer)

    return talk


def breaking_off(answer: bytes) -> Talk:
    """Where TLS should begin: hear how it begins, say `answer`, and nothing more."""

    async def talk(peer: Peer) -> None:
        await peer.read(5)
        peer.write(answer)
        peer.writer.write_eof()
        await peer.idle()

    return talk
