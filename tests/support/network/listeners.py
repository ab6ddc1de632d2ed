"""Close a server without leaking a socket."""

from __future__ import annotations

import asyncio
from typing import Any


async def stop_accepting(server: Any) -> None:
    """Accept no more connections, and wait until the accepted ones reach their handlers; then close `server`.

    asyncio leaks a socket that is accepted in the same iteration of the loop in which its server is closed.
    """
    loop = asyncio.get_running_loop()
    for listener in server.sockets:
        loop.remove_reader(listener.fileno())
    for _ in range(3):  # one each for: the transport, its connection, its handler
        await asyncio.sleep(0)
