"""Closing a server without leaving a socket behind."""

from __future__ import annotations

import asyncio
from typing import Any


async def stop_accepting(server: Any) -> None:
    """Take no more connections, and let those that were taken reach their handlers; then `server` may be closed.

    asyncio leaks a socket that is accepted in the very turn of the loop in which its server is closed.
    """
    loop = asyncio.get_running_loop()
    for listener in server.sockets:
        loop.remove_reader(listener.fileno())
    for _ in range(3):  # the socket becomes a transport, that is connected, its handler begins
        await asyncio.sleep(0)
