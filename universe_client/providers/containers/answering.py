"""Whether a remote that runs still answers: a program that is stopped accepts connections all the same."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from rewarder.client import RewarderAddress
from universe_client.providers.provider import RemoteAddress
from vnc.session import VNCAddress

TIMEOUT = 5.0
"""Seconds for both ports to answer."""
_REQUEST = "GET /healthz HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n"


async def answers(address: RemoteAddress) -> bool:
    """Whether the VNC server introduces itself (RFC 6143 7.1.1) and the rewarder has a health page; not over TLS."""
    asked = [_begins_with(address.vnc, b"", b"RFB ")]
    if address.rewarder is not None:
        request = _REQUEST.format(address.rewarder).encode()
        asked.append(_begins_with(address.rewarder, request, b"HTTP/1.1 200 "))
    return all(await asyncio.gather(*asked))


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
