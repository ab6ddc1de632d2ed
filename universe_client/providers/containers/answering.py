"""Check whether a running remote still replies. The kernel accepts connections even to a process that is stopped."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from rewarder.client import RewarderAddress
from universe_client.providers.provider import RemoteAddress
from vnc.session import VNCAddress

TIMEOUT = 5.0
"""Seconds that each port may take to reply."""
_REQUEST = "GET /healthz HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n"


async def answers(address: RemoteAddress) -> bool:
    """Return whether the VNC server sends its version (RFC 6143 section 7.1.1) and the rewarder its health page.

    Of a remote with TLS only the VNC server is asked: VeNCrypt begins without TLS.
    """
    checks = [_begins_with(address.vnc, b"", b"RFB ")]
    if address.rewarder is not None and address.rewarder.tls is None:
        request = _REQUEST.format(address.rewarder).encode()
        checks.append(_begins_with(address.rewarder, request, b"HTTP/1.1 200 "))
    return all(await asyncio.gather(*checks))


async def _begins_with(address: VNCAddress | RewarderAddress, request: bytes, expected: bytes) -> bool:
    with suppress(OSError, asyncio.IncompleteReadError):
        async with asyncio.timeout(TIMEOUT):
            reader, writer = await asyncio.open_connection(address.host, address.port)
            try:
                writer.write(request)
                return await reader.readexactly(len(expected)) == expected
            finally:
                writer.close()
    return False
