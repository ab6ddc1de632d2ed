"""The client against a real server."""

from __future__ import annotations

import logging

import pytest

from rewarder.client import BURST, RewarderAddress, RewarderTimeouts
from rewarder.credentials import authorization
from rewarder.errors import AuthError, ProtocolError
from rewarder.protocol.buffer import RewardBuffer
from rewarder.protocol.episode import EpisodeId
from rewarder.protocol.messages import Describe, Input, Reset
from rewarder.protocol.timed_input import KeyInput
from rewarder.version import VERSION

EPISODE = EpisodeId((1,))
PASSWORD = "canary-7f3a"


async def test_a_whole_episode(bench):
    server = await bench.serve()
    client, buffer = await bench.connect(server.port)
    message_id = client.reset(Reset("a", seed=3, fps=30))
    await bench.until(lambda: bench.resets)
    [request] = bench.resets
    assert (request.message_id, request.env_id, request.seed, request.fps) == (message_id, "a", 3, 30.0)
    server.describe(EPISODE, Describe("a", "running", 30))
    server.reply_reset(request, EPISODE)
    server.reward(EPISODE, 2.5, False, {"score": 1})
    server.text(EPISODE, "hello")
    server.env_observation(EPISODE, [1, 2])
    await bench.until(lambda: any(each.message.method == "v0.env.observation" for each in bench.messages))
    popped = buffer.pop()
    assert (popped.reward, popped.text, popped.env_observation, popped.info) == (
        2.5,
        ["hello"],
        [1, 2],
        {"score": 1},
    )
    assert popped.running == EPISODE


async def test_a_rejected_reset(bench):
    server = await bench.serve()
    client, _ = await bench.connect(server.port)
    client.reset(Reset("nope"))
    await bench.until(lambda: bench.resets)
    server.reply_error(bench.resets[0], "no such environment: nope")
    await bench.until(lambda: client.reset_error)
    assert str(client.reset_error) == "reset rejected: no such environment: nope"
    assert client.error is None


async def test_actions_reach_the_runtime(bench):
    server = await bench.serve()
    client, _ = await bench.connect(server.port)
    client.action("a", [["JoystickAxisXEvent", 0.5]])
    await bench.until(lambda: bench.actions)
    assert bench.actions == [([["JoystickAxisXEvent", 0.5]], "a")]


async def test_malformed_input_of_a_person_ends_the_connection(bench):
    server = await bench.serve()
    client, _ = await bench.connect(server.port)
    await bench.until(lambda: server.controllers)
    assert server.tell(1, EPISODE, Input([KeyInput(-1, True, 1.0)]))
    error = await client.closed()
    assert isinstance(error, ProtocolError) and error.code == 1007


async def test_the_clock_is_calibrated_by_the_opening_burst(bench):
    server = await bench.serve()
    client, _ = await bench.connect(server.port, timeouts=RewarderTimeouts(clock_interval=3600))
    await bench.until(lambda: client.clock.samples >= BURST)
    assert client.clock.calibrated
    assert abs(client.clock.skew) <= client.clock.rtt / 2 + 0.001


async def test_pings_go_on(bench):
    server = await bench.serve()
    client, _ = await bench.connect(server.port, timeouts=RewarderTimeouts(clock_interval=0.02))
    await bench.until(lambda: client.clock.samples >= BURST + 5)


async def test_versions_are_exchanged(bench):
    server = await bench.serve()
    client, _ = await bench.connect(server.port)
    assert client.remote_version == VERSION


async def test_close_is_idempotent_and_says_who(bench):
    server = await bench.serve()
    client, _ = await bench.connect(server.port)
    await client.close()
    await client.close()
    assert str(await client.closed()) == "connection closed, code 1000: closed by us"
    client.reset(Reset("a"))
    client.action("a", [])


async def test_a_lost_connection_leaves_the_end_of_the_episode_to_the_buffers_owner(bench):
    server = await bench.serve()
    client, buffer = await bench.connect(server.port)
    server.describe(EPISODE, Describe("a", "running", 60))
    server.reward(EPISODE, 4, False)
    await bench.until(lambda: buffer.running and bench.messages[-1].message.method == "v0.env.reward")
    await server.close(1012, "update")
    error = await client.closed()
    assert (error.code, error.reason, error.retry) == (1012, "update", True)
    popped = buffer.pop()
    assert (popped.reward, popped.truncated, popped.end_reason) == (4, False, None)
    buffer.disconnected("lost")
    popped = buffer.pop()
    assert (popped.reward, popped.truncated, popped.end_reason) == (0, True, "lost")


async def test_one_buffer_outlives_connections(bench):
    server = await bench.serve()
    buffer = RewardBuffer()
    for _ in range(2):
        client, _ = await bench.connect(server.port, buffer=buffer)
        buffer.begin_reset()
        client.reset(Reset("a"))
        await bench.until(lambda: bench.resets)
        server.describe(EPISODE, Describe("a", "running", 60))
        server.reply_reset(bench.resets.pop(), EPISODE)
        await bench.until(lambda: buffer.running)
        await client.close()
    assert server.controllers == 0


async def test_f28_a_flood_is_summed(bench):
    server = await bench.serve()
    client, buffer = await bench.connect(server.port)
    for _ in range(100):
        for _ in range(20):
            server.reward(EPISODE, 1, False)
        count = len(bench.messages)
        await bench.until(lambda count=count: len(bench.messages) > count)
    await bench.until(lambda: sum(each.message.method == "v0.env.reward" for each in bench.messages) == 2000)
    assert buffer.pop().reward == 2000
    assert client.error is None


async def test_the_password_is_in_no_log_and_no_repr(bench, caplog):
    caplog.set_level(logging.DEBUG)
    for name in ("rewarder.wire.client", "rewarder.wire.server", "websockets.client", "websockets.server"):
        caplog.set_level(logging.DEBUG, logger=name)
    server = await bench.serve()
    client, _ = await bench.connect(server.port)
    with pytest.raises(AuthError) as caught:
        await bench.connect(server.port, password="canary-wrong")
    await client.close()
    address = RewarderAddress("127.0.0.1", 1, PASSWORD)
    said = caplog.text + repr(address) + str(address) + repr(client) + repr(server) + repr(caught.value)
    assert "Authorization: [hidden]" in caplog.text or "authorization: [hidden]" in caplog.text
    assert "canary" not in said
    assert authorization(PASSWORD).split()[1] not in said
    assert authorization("canary-wrong").split()[1] not in said


def test_addresses_print_without_secrets():
    assert str(RewarderAddress("::1", 7, "x")) == "[::1]:7"
    assert repr(RewarderAddress("h", 7, "x")) == "RewarderAddress(host='h', port=7, tls=None)"
