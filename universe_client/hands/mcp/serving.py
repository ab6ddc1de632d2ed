"""The server's life: its remotes start with it and end with it."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from typing import Any

from mcp.server import MCPServer

from universe_client.hands.mcp.changes import Changes
from universe_client.hands.mcp.http import http_app
from universe_client.hands.mcp.remotes import Remotes
from universe_client.hands.mcp.server import make_server
from universe_client.hands.mcp.signals import run_until_signal
from universe_client.hands.mcp.stdin import wakeable_stdin
from universe_client.providers.provider import Provider
from universe_client.vector_env import VectorEnv

RemotesOption = int | str | Provider
_GRACE = 5
"""Seconds that open HTTP requests have to end when the server does."""


def serve_stdio(env_id: str | None, remotes: RemotesOption, *, seed: int | None = None) -> None:
    """Serve over stdin and stdout until stdin ends, or until SIGINT or SIGTERM.

    Args:
        env_id, remotes: as for `VectorEnv`.
        seed: of the first episodes.

    Raises:
        ConfigError: an argument is invalid.
    """

    async def serve() -> None:
        async with wakeable_stdin(), opened(env_id, remotes, seed=seed) as server:
            await server.run_stdio_async()

    run_until_signal(serve())


def serve_http(
    env_id: str | None,
    remotes: RemotesOption,
    listener: socket.socket,
    token: str,
    allowed_hosts: Collection[str] = (),
    *,
    seed: int | None = None,
) -> None:
    """Serve streamable HTTP at `/mcp` until SIGINT or SIGTERM.

    Args:
        env_id, remotes, seed: see `serve_stdio`.
        listener: a listening socket, which is closed at the end.
        token, allowed_hosts: see `http_app`.

    Raises:
        ConfigError: an argument is invalid.
    """
    import uvicorn

    async def serve() -> None:
        async with opened(env_id, remotes, seed=seed) as server:
            config = uvicorn.Config(
                http_app(server, token, allowed_hosts),
                log_config=None,
                access_log=False,
                timeout_graceful_shutdown=_GRACE,
            )
            await uvicorn.Server(config).serve(sockets=[listener])

    asyncio.run(serve())


@asynccontextmanager
async def opened(
    env_id: str | None, remotes: RemotesOption, *, seed: int | None = None
) -> AsyncIterator[MCPServer[Any]]:
    """Start remotes, and their first episodes in the background; return their server, and end them at the end.

    A call for a remote that is still starting waits for it.

    Raises:
        ConfigError: an argument is invalid.
    """
    with VectorEnv(env_id, remotes) as env:
        env.reset(seed=seed)
        desks, changes = Remotes(env), Changes()
        try:
            async with changes.of(desks):
                yield make_server(desks, changes)
        finally:
            desks.close()
