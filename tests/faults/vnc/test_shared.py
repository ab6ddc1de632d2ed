"""Another client connects without sharing, so that the server drops ours (F18)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from tests.support.remotes.agent import is_done, until, until_running
from tests.support.timing import Stopwatch
from tests.support.vnc.xvnc import xvnc_server
from universe_client.core.event_loop.loop import LoopThread
from universe_client.providers.provider import RemoteAddress
from vnc.session import VNCAddress

VERSION = b"RFB 003.008\n"
NO_SECURITY, DO_NOT_SHARE = b"\x01", b"\x00"


@pytest.fixture
def disconnecting(far_side: LoopThread, tmp_path: Path) -> Iterator[int]:
    """Run TigerVNC's server with its defaults, where a client that does not share drops the others; yield its port."""
    servers = AsyncExitStack()
    server = xvnc_server(tmp_path, None, "-AlwaysShared=0", "-DisconnectClients=1")
    yield far_side.run(servers.enter_async_context(server), 60)[0]
    far_side.run(servers.aclose(), 60)


async def take_over(port: int) -> asyncio.StreamWriter:
    """Connect as a client that does not share; return when the server answers."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    await reader.readexactly(len(VERSION))
    writer.write(VERSION)
    (count,) = await reader.readexactly(1)
    assert NO_SECURITY in await reader.readexactly(count)
    writer.write(NO_SECURITY)
    assert await reader.readexactly(4) == bytes(4)
    writer.write(DO_NOT_SHARE)
    await reader.readexactly(24)
    return writer


@pytest.mark.fault("F18", "second client with shared=0")
def test_f18_a_client_that_does_not_share_costs_one_episode(disconnecting, far_side, open_env, measure):
    env = open_env(RemoteAddress(VNCAddress("127.0.0.1", disconnecting)))
    env.reset()
    until_running(env)
    stranger = far_side.run(take_over(disconnecting), 60)
    watch = Stopwatch()
    cut = until(env, is_done)[-1]
    assert cut.info["end_reason"] == "lost"
    assert "closed" in cut.info["error"]
    until_running(env)
    measure("back after", watch.seconds, at_most=2, unit="s")
    far_side.call(stranger.close)
