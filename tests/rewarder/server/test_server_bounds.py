"""Bounds of what clients may consume, and of rewards."""

from __future__ import annotations

import asyncio

import pytest

from rewarder.protocol.messages import Describe, Reward
from rewarder.server.server import ServerLimits
from tests.rewarder.server.test_server import EPISODE, raw


async def test_connections_before_their_upgrade_are_bounded_and_the_oldest_makes_room(bench):
    server = await bench.serve(limits=ServerLimits(unopened=3, open_timeout=600.0))
    silent = [await asyncio.open_connection("127.0.0.1", server.port) for _ in range(10)]
    async with asyncio.timeout(60), raw(server.port):  # as those that connect in earnest are
        ends = [await reader.read() for reader, _ in silent[:-3]]
    assert ends == [b""] * 7
    for _, writer in silent:
        writer.close()
        await asyncio.wait([asyncio.create_task(writer.wait_closed())])


@pytest.mark.filterwarnings(
    "ignore::pytest.PytestUnraisableExceptionWarning"
)  # asyncio has the collector close them
async def test_over_tls_connections_before_their_handshake_are_bounded(bench, identity):
    server = await bench.serve(limits=ServerLimits(unopened=3, open_timeout=600.0), tls=identity.context())
    silent = [await asyncio.open_connection("127.0.0.1", server.port) for _ in range(5)]
    async with asyncio.timeout(60):
        ended = [await reader.read() for reader, _ in silent[3:]]
    assert ended == [b"", b""]
    for _, writer in silent:
        writer.close()
        await asyncio.wait([asyncio.create_task(writer.wait_closed())])


async def test_answers_to_pings_that_nobody_reads_are_bounded(bench):
    server = await bench.serve(limits=ServerLimits(answers=4096))
    server.describe(EPISODE, Describe("env", "running", 60))
    async with raw(server.port, observer=True) as client:
        await client.recv()
        client.transport.pause_reading()
        ping = b"\x89\xfd" + bytes(4) + b"x" * 125
        async with asyncio.timeout(60):
            while server.observers:
                client.transport.write(ping * 1000)
                await asyncio.sleep(0)
        client.transport.abort()


@pytest.mark.parametrize("reward", [1e308, -1e308])
async def test_rewards_that_could_sum_to_infinity_are_refused_at_both_ends(bench, reward):
    server = await bench.serve()
    with pytest.raises(ValueError, match=r"1e\+308, the limit is 1e\+300"):
        server.reward(EPISODE, reward, False)
    _, buffer = await bench.connect(server.port)
    client = bench.clients[-1]
    for _ in range(2):
        server._publish(EPISODE, Reward(reward))  # as a stranger's remote would
    error = await client.closed()
    assert "the limit is 1e+300" in str(error)
    assert buffer.pop().reward == 0.0
