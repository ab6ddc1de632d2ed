"""A minimal HTTP client that sends the path unchanged, including `..`."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes


async def get(port: int, path: str, *lines: str) -> Answer:
    """Request `path` from 127.0.0.1, with additional header `lines`."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    head = [f"GET {path} HTTP/1.1", f"Host: 127.0.0.1:{port}", *lines, "", ""]
    writer.write("\r\n".join(head).encode())
    async with asyncio.timeout(60):
        data = await reader.read()
    writer.close()
    await writer.wait_closed()
    start, _, body = data.partition(b"\r\n\r\n")
    status, *headers = start.decode().split("\r\n")
    pairs = (line.split(": ", 1) for line in headers)
    return Answer(int(status.split()[1]), {name.lower(): value for name, value in pairs}, body)
