"""A TCP proxy between an agent and a remote that produces network faults."""

from __future__ import annotations

import asyncio
import random
import socket
import struct
from collections.abc import Callable

from tests.support.network.listeners import stop_accepting
from universe_client.core.event_loop.loop import LoopThread


class Proxy:
    """Forwards connections to a port on this machine; the faults can be started at any time.

    Attributes:
        latency: the delay of each piece to the agent, in seconds.
        split: pieces to the agent have a random length of 1 to this many bytes; 0 leaves them whole.
        cut_after: the number of bytes to the agent after which the connection is closed; None for never.
        accepted: the number of connections so far.
        target: the port on this machine that later connections are forwarded to.
    """

    def __init__(self, loop: LoopThread, target: int, seed: int = 0) -> None:
        self.latency = 0.0
        self.split = 0
        self.cut_after: int | None = None
        self.accepted = 0
        self.target = target
        self._loop, self._random = loop, random.Random(seed)
        self._flows = True  # towards the agent
        self._reads = True  # from the agent
        self._changed = asyncio.Event()
        self._mute: set[asyncio.StreamWriter] = set()  # data for these is dropped
        self._pairs: list[tuple[asyncio.StreamWriter, asyncio.StreamWriter]] = []
        self._tasks: set[asyncio.Task[None]] = set()
        loop.run(self._start(), 60)

    async def _start(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port: int = self._server.sockets[0].getsockname()[1]

    def stall(self) -> None:
        """Stop forwarding to the agent; keep the connection open."""
        self._set(flows=False)

    def stop_reading(self) -> None:
        """Stop reading from the agent, so that its data stays in its buffers."""
        self._set(reads=False)

    def flow(self) -> None:
        """Forward again in both directions, including what was held back."""
        self._set(flows=True, reads=True)

    def half_close(self) -> None:
        """Close the direction from the remote to the agent."""
        self._each(self._silence)

    def reset(self) -> None:
        """End every connection with RST."""
        self._each(_reset)

    def cut(self) -> None:
        """End every connection with FIN."""
        self._each(_close)

    def close(self) -> None:
        self._loop.run(self._close(), 60)

    async def _close(self) -> None:
        await stop_accepting(self._server)
        self._server.close()
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _set(self, flows: bool | None = None, reads: bool | None = None) -> None:
        async def switch() -> None:
            self._flows = self._flows if flows is None else flows
            self._reads = self._reads if reads is None else reads
            self._changed.set()
            self._changed = asyncio.Event()

        self._loop.run(switch(), 60)

    def _each(self, fault: Callable[[asyncio.StreamWriter, asyncio.StreamWriter], None]) -> None:
        """Call a function for every connection whose agent's side is open."""

        async def strike() -> None:
            for agent, remote in self._pairs:
                if not agent.is_closing() and agent not in self._mute:
                    fault(agent, remote)

        self._loop.run(strike(), 60)

    def _silence(self, agent: asyncio.StreamWriter, _remote: asyncio.StreamWriter) -> None:
        self._mute.add(agent)
        agent.write_eof()

    async def _serve(self, reader: asyncio.StreamReader, agent: asyncio.StreamWriter) -> None:
        self.accepted += 1
        serving = asyncio.current_task()
        assert serving is not None
        self._tasks.add(serving)
        serving.add_done_callback(self._tasks.discard)
        try:
            far, remote = await asyncio.open_connection("127.0.0.1", self.target)
        except (
            OSError,
            asyncio.CancelledError,
        ):  # asyncio's streams log an error when a handler ends as cancelled
            agent.transport.abort()
            return
        pair = agent, remote
        self._pairs.append(pair)
        try:
            await asyncio.gather(self._forward(far, agent), self._listen(reader, remote))
        except asyncio.CancelledError:
            agent.transport.abort()
            remote.transport.abort()
        finally:
            self._pairs.remove(pair)
            self._mute.discard(agent)

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
                sent += len(data)
                if agent not in self._mute:
                    agent.write(data)
                    await agent.drain()
            agent.close()
        except OSError:
            agent.transport.abort()

    async def _listen(self, reader: asyncio.StreamReader, remote: asyncio.StreamWriter) -> None:
        try:
            while data := await reader.read(65536):
                remote.write(data)
                await remote.drain()
                while not self._reads:
                    await self._changed.wait()
            remote.close()
        except OSError:
            remote.transport.abort()


def _close(agent: asyncio.StreamWriter, remote: asyncio.StreamWriter) -> None:
    agent.close()
    remote.close()


def _reset(agent: asyncio.StreamWriter, _remote: asyncio.StreamWriter) -> None:
    connection = agent.get_extra_info("socket")
    if connection is not None:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        agent.transport.abort()
