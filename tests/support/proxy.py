"""A TCP proxy between an agent and a remote that can do to their bytes what networks do."""

from __future__ import annotations

import asyncio
import random
import socket
import struct
from collections.abc import Callable
from typing import Any

from tests.support.listeners import stop_accepting
from universe_client.loop import LoopThread


class Proxy:
    """Forwards connections to a port on this machine; the faults below may be switched on at any time.

    Attributes:
        latency: seconds each piece is held back, on the way to the agent.
        split: pieces to the agent have a random length of 1 to this many bytes; 0 leaves them whole.
        cut_after: after so many bytes to the agent the connection is closed; None for never.
        accepted: how many connections have come.
    """

    def __init__(self, loop: LoopThread, target: int, seed: int = 0) -> None:
        self.latency = 0.0
        self.split = 0
        self.cut_after: int | None = None
        self.accepted = 0
        self._loop, self._target, self._random = loop, target, random.Random(seed)
        self._flows = True  # towards the agent
        self._reads = True  # from the agent
        self._changed = asyncio.Event()
        self._pairs: list[tuple[asyncio.StreamWriter, asyncio.StreamWriter]] = []
        self._tasks: set[asyncio.Task[None]] = set()
        loop.run(self._start(), 5)

    async def _start(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port: int = self._server.sockets[0].getsockname()[1]

    def stall(self) -> None:
        """Nothing goes to the agent any more; the connection stays."""
        self._set(lambda: setattr(self, "_flows", False))

    def flow(self) -> None:
        """What was held back goes on."""
        self._set(lambda: setattr(self, "_flows", True))

    def stop_reading(self) -> None:
        """What the agent sends stays in its buffers."""
        self._set(lambda: setattr(self, "_reads", False))

    def half_close(self) -> None:
        """The remote says no more, but would listen."""
        self._set(lambda: [agent.write_eof() for agent, _ in self._pairs if not agent.is_closing()])

    def reset(self) -> None:
        """Every connection ends with RST."""
        self._set(lambda: [_reset(agent) for agent, _ in self._pairs])

    def close(self) -> None:
        self._loop.run(self._close(), 5)

    async def _close(self) -> None:
        await stop_accepting(self._server)
        self._server.close()
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for agent, remote in self._pairs:
            agent.transport.abort()
            remote.transport.abort()

    def _set(self, function: Callable[[], Any]) -> None:
        async def run() -> None:
            function()
            self._changed.set()
            self._changed = asyncio.Event()

        self._loop.run(run(), 5)

    async def _serve(self, reader: asyncio.StreamReader, agent: asyncio.StreamWriter) -> None:
        self.accepted += 1
        serving = asyncio.current_task()
        assert serving is not None
        self._tasks.add(serving)
        serving.add_done_callback(self._tasks.discard)
        try:
            far, remote = await asyncio.open_connection("127.0.0.1", self._target)
        except (OSError, asyncio.CancelledError):  # streams complain of a handler that ends as cancelled
            agent.transport.abort()
            return
        self._pairs.append((agent, remote))
        for work in (self._forward(far, agent), self._listen(reader, remote)):
            task = asyncio.create_task(work)
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _forward(self, source: asyncio.StreamReader, agent: asyncio.StreamWriter) -> None:
        sent = 0
        try:
            while data := await source.read(self._random.randint(1, self.split) if self.split else 65536):
                await asyncio.sleep(self.latency)
                while not self._flows:
                    await self._changed.wait()
                if self.cut_after is not None and sent + len(data) > self.cut_after:
                    agent.write(data[: self.cut_after - sent])
                    break
                agent.write(data)
                sent += len(data)
                await agent.drain()
            agent.close()
        except ConnectionError:
            agent.transport.abort()

    async def _listen(self, reader: asyncio.StreamReader, remote: asyncio.StreamWriter) -> None:
        try:
            while data := await reader.read(65536):
                remote.write(data)
                await remote.drain()
                while not self._reads:
                    await self._changed.wait()
            remote.close()
        except ConnectionError:
            remote.transport.abort()


def _reset(writer: asyncio.StreamWriter) -> None:
    connection = writer.get_extra_info("socket")
    if connection is not None and not writer.is_closing():
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.transport.abort()
