"""The server's end of VeNCrypt, written by the test."""

from __future__ import annotations

import ssl
import struct
from collections.abc import Awaitable, Callable

from tests.support.vnc.rfb import Peer, raw

TLS_NONE, TLS_VNC, TLS_PLAIN, X509_NONE, X509_VNC, X509_PLAIN = range(257, 263)
ANONYMOUS = "ADH:AECDH:@SECLEVEL=0"
"""OpenSSL's name of the cipher suites without a certificate."""


async def agree(peer: Peer, *offered: int) -> int:
    """Negotiate VeNCrypt up to TLS; return the sub-type that the client chose."""
    await peer.greet()
    peer.write(b"\x02\x02\x13")
    assert await peer.read(1) == b"\x13"
    peer.write(b"\x00\x02")
    assert await peer.read(2) == b"\x00\x02"
    peer.write(b"\x00" + struct.pack(f">B{len(offered)}I", len(offered), *offered))
    (chosen,) = struct.unpack(">I", await peer.read(4))
    return chosen


async def secured(peer: Peer, context: ssl.SSLContext, *offered: int) -> int:
    """Negotiate VeNCrypt and start TLS; return the sub-type that the client chose."""
    chosen = await agree(peer, *offered)
    peer.write(b"\x01")
    await peer.writer.start_tls(context)
    return chosen


Talk = Callable[[Peer], Awaitable[None]]


def honest(context: ssl.SSLContext, sub_type: int, login: Talk, afterwards: Talk = Peer.idle) -> Talk:
    """Return a `talk` of one sub-type that shows one grey frame."""

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
    """Return a `talk` that reads the start of TLS, sends `answer`, and stops."""

    async def talk(peer: Peer) -> None:
        await peer.read(5)
        peer.write(answer)
        peer.writer.write_eof()
        await peer.idle()

    return talk
