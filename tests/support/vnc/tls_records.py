"""The server's end of TLS, written by the test record by record."""

from __future__ import annotations

import ssl
import struct
from contextlib import suppress

from tests.support.vnc.rfb import PIXEL_FORMAT, Peer, raw, update
from tests.support.vnc.vencrypt import X509_NONE, agree

APPLICATION, HANDSHAKE, ALERT = 23, 22, 21
FRAME = update(raw(7))


class Records:
    """TLS with a client, whose records the test may change before it sends them."""

    def __init__(self, peer: Peer, context: ssl.SSLContext) -> None:
        self.peer = peer
        self._in, self._out = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._in, self._out, server_side=True)

    async def start(self) -> None:
        """Negotiate X509None, do the handshakes of TLS and of RFB, and read the first request."""
        await agree(self.peer, X509_NONE)
        self.peer.write(b"\x01")
        while not self._is_shaken():
            await self._more()
        self.peer.write(self.sealed(bytes(4)))
        await self.read(1)
        self.peer.write(self.sealed(struct.pack(">HH", 8, 6) + PIXEL_FORMAT + struct.pack(">I", 4) + b"test"))
        await self.read(1)

    def _is_shaken(self) -> bool:
        try:
            self._tls.do_handshake()
        except ssl.SSLWantReadError:
            return False
        finally:
            self.peer.write(self._out.read())
        return True

    async def _more(self) -> None:
        data = await self.peer.reader.read(1 << 16)
        if not data:
            raise EOFError
        self._in.write(data)

    async def read(self, count: int) -> bytes:
        """Read up to `count` bytes that the client has sent, at least one."""
        while True:
            try:
                return self._tls.read(count)
            except ssl.SSLWantReadError:
                await self._more()

    def sealed(self, data: bytes) -> bytes:
        """Return the records for some data."""
        self._tls.write(data)
        return self._out.read()

    def end(self) -> bytes:
        """Return the record that announces the end, close_notify."""
        with suppress(ssl.SSLWantReadError):
            self._tls.unwrap()
        return self._out.read()


def record(kind: int, data: bytes, length: int | None = None) -> bytes:
    """Return a record that is not encrypted, and may lie about its length."""
    return struct.pack(">BHH", kind, 0x303, len(data) if length is None else length) + data
