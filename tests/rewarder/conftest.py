"""A real server and client on loopback, and a way to wait for their messages."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable

import pytest

from rewarder.client import RewarderAddress, RewarderClient
from rewarder.protocol.buffer import RewardBuffer
from rewarder.protocol.episode import EpisodeId
from rewarder.protocol.messages import Envelope
from rewarder.server.server import ResetRequest, RewarderServer
from tests.support.network.certificates import authority, identity

__all__ = ["authority", "identity"]

PASSWORD = "canary-7f3a"
EPISODE = EpisodeId((1,))


class Bench:
    """One server, any number of clients, and an event that is set whenever a message arrives."""

    def __init__(self) -> None:
        self.resets: list[ResetRequest] = []
        self.actions: list[tuple[object, str | None]] = []
        self.messages: list[Envelope] = []
        self.clients: list[RewarderClient] = []
        self.servers: list[RewarderServer] = []
        self.bell = asyncio.Event()

    async def serve(self, **options: object) -> RewarderServer:
        options.setdefault("password", PASSWORD)
        tls = options.pop("tls", None)
        server = RewarderServer(on_reset=self._reset, on_action=self._action, **options)
        self.servers.append(server)
        await server.start(tls=tls)
        return server

    async def connect(self, port: int, **options: object) -> tuple[RewarderClient, RewardBuffer]:
        buffer = options.pop("buffer", None) or RewardBuffer()
        address = RewarderAddress(
            "127.0.0.1", port, options.pop("password", PASSWORD), options.pop("tls", None)
        )
        client = await RewarderClient.connect(address, buffer=buffer, on_message=self._message, **options)
        self.clients.append(client)
        return client, buffer

    async def until(self, condition: Callable[[], object]) -> None:
        """Wait for a condition, which is checked when a message arrives."""
        async with asyncio.timeout(60):
            while not condition():
                self.bell.clear()
                await self.bell.wait()

    async def close(self) -> None:
        for client in self.clients:
            await client.close()
        for server in self.servers:
            await server.close()

    def _reset(self, request: ResetRequest) -> None:
        self.resets.append(request)
        self.bell.set()

    def _action(self, action: object, env_id: str | None) -> None:
        self.actions.append((action, env_id))
        self.bell.set()

    def _message(self, envelope: Envelope) -> None:
        self.messages.append(envelope)
        self.bell.set()


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    bench = Bench()
    yield bench
    await bench.close()
