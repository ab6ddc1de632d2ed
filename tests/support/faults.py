"""Proxies and hostile servers that produce faults for an agent."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import Any

import pytest

from tests.support.network.proxy import Proxy
from tests.support.remotes.remote import ScriptedRemote
from tests.support.vnc.rfb import Peer, listening
from universe_client.core.event_loop.loop import LoopThread
from universe_client.providers.provider import RemoteAddress
from vnc.session import VNCAddress


@pytest.fixture
def proxied(far_side: LoopThread) -> Iterator[Callable[..., tuple[Proxy, RemoteAddress]]]:
    """Put a proxy before the VNC port of a scripted remote, or before its rewarder port with channel="rewarder"."""
    proxies: list[Proxy] = []

    def between(remote: ScriptedRemote, channel: str = "vnc", **faults: Any) -> tuple[Proxy, RemoteAddress]:
        address = getattr(remote.address, channel)
        proxy = Proxy(far_side, address.port)
        for name, value in faults.items():
            setattr(proxy, name, value)
        proxies.append(proxy)
        return proxy, replace(remote.address, **{channel: replace(address, port=proxy.port)})

    yield between
    for proxy in proxies:
        proxy.close()


@pytest.fixture
def evil(far_side: LoopThread) -> Iterator[Callable[..., tuple[RemoteAddress, list[float]]]]:
    """Run a VNC server that runs `talk` with each client; it records the times of their connections."""
    servers = AsyncExitStack()

    def start(talk: Callable[[Peer], Any]) -> tuple[RemoteAddress, list[float]]:
        attempts: list[float] = []

        async def counted(peer: Peer) -> None:
            attempts.append(time.monotonic())
            await talk(peer)

        port = far_side.run(servers.enter_async_context(listening(counted)), 60)
        return RemoteAddress(VNCAddress("127.0.0.1", port)), attempts

    yield start
    far_side.run(servers.aclose(), 60)
