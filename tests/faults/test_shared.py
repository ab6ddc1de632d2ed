"""A client connects to the same Xvnc and does not share it (F18)."""

from __future__ import annotations

from contextlib import AsyncExitStack

import pytest

from tests.support.remotes.agent import is_done, running, until, until_running
from tests.support.timing import Stopwatch
from tests.support.vnc.xvnc import logo, xvnc_server
from tests.vnc.rfb_client import RFBClient
from universe_client.core.event_loop.loop import LoopThread
from universe_client.errors import PeerLost
from universe_client.providers.provider import RemoteAddress
from vnc.session import VNCAddress


async def attach_unshared(port: int) -> RFBClient:
    """RFC 6143 section 7.3.1: with the flag at zero a server leaves this client alone with the desktop."""
    client = await RFBClient.open(port)
    client.writer.write(b"RFB 003.008\n\x01\x00")
    await client.read(12 + 2 + 4)
    return client


@pytest.mark.fault("F18", "second client with shared=0")
def test_f18_an_unshared_client_costs_one_connection_which_is_made_again(
    far_side: LoopThread, open_env, measure, tmp_path
):
    stack = AsyncExitStack()

    async def start() -> int:
        port, display = await stack.enter_async_context(xvnc_server(tmp_path, None, "-AlwaysShared=0"))
        await stack.enter_async_context(logo(display))
        return port

    port = far_side.run(start(), 60)
    try:
        env = open_env(RemoteAddress(VNCAddress("127.0.0.1", port)))
        env.reset()
        until_running(env)
        intruder = far_side.run(attach_unshared(port), 60)
        seen = until(env, is_done)
        watch = Stopwatch()
        assert isinstance(env.remotes[0].error, PeerLost)
        seen += until(env, running)
        measure("back after", watch.seconds, at_most=2.0, unit="s")
        measure("ends", sum(bool(step.done) for step in seen), equals=1)
        far_side.run(intruder.read(24), 60)  # its ServerInit: we came back as one of several, and it stays
        intruder.writer.transport.abort()
    finally:
        far_side.run(stack.aclose(), 60)
