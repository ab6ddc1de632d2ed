"""The fixtures of the MCP server: clients of a server over scripted remotes, with a screen of 24x16 pixels."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import pytest
from mcp import Client

from tests.support.fixtures import driver, far_side, open_env, scripted
from universe_client.hands.mcp.changes import Changes
from universe_client.hands.mcp.remotes import Remotes
from universe_client.hands.mcp.server import make_server

__all__ = ["driver", "far_side", "open_env", "scripted"]


@pytest.fixture(params=["native"])
def driver(request):  # noqa: F811 (one driver is enough: other tests try them all)
    return request.param


@pytest.fixture
def connected(open_env) -> Callable[..., AbstractAsyncContextManager[Client]]:
    """Connect the official client to a server over these remotes, in memory."""

    @asynccontextmanager
    async def connect(*remotes: Any, **options: Any):
        env = open_env(*remotes)
        desks, changes = Remotes(env), Changes()
        try:
            async with changes.of(desks), Client(make_server(desks, changes), **options) as client:
                yield client
        finally:
            desks.close()

    return connect
