"""The rewarder client with misbehaving peers (F19 to F29)."""

from __future__ import annotations

import asyncio
import json
import os
import resource
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from http import HTTPStatus

import pytest
from websockets.asyncio.server import ServerConnection, serve

from rewarder.client import BURST, RewarderAddress, RewarderClient, RewarderTimeouts
from rewarder.errors import AuthError, ConnectError, ControllerBusy, PeerLost, ProtocolError, RewarderError
from rewarder.protocol.buffer import RewardBuffer
from rewarder.protocol.episode import EpisodeId

EPISODE = EpisodeId((1,))
PASSWORD = "canary-7f3a"
REWARD = '{"method":"v0.env.reward","headers":{"episode_id":"1"},"body":{"reward":1,"done":false,"info":{}}}'
Script = Callable[[ServerConnection], Awaitable[None]]


@asynccontextmanager
async def evil(script: Script, **options: object) -> AsyncIterator[RewarderAddress]:
    """A WebSocket server that follows a script."""
    options = {"compression": None, "close_timeout": 0.2} | options
    async with serve(script, "127.0.0.1", 0, **options) as server:
        yield RewarderAddress("127.0.0.1", server.sockets[0].getsockname()[1], PASSWORD)


@asynccontextmanager
async def evil_tcp(answer: bytes | None) -> AsyncIterator[RewarderAddress]:
    """A TCP server that sends `answer` and closes; with None it neither answers nor closes."""
    release = asyncio.Event()
    tasks: set[asyncio.Task[None]] = set()

    async def serve_one(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tasks.add(asyncio.current_task())
        if answer is None:
            await release.wait()
        else:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(answer)
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()

    server = await asyncio.start_server(serve_one, "127.0.0.1", 0)
    try:
        yield RewarderAddress("127.0.0.1", server.sockets[0].getsockname()[1], PASSWORD)
    finally:
        release.set()
        server.close()
        if tasks:
            await asyncio.wait(tasks)


async def the_end(
    script: Script, timeouts: RewarderTimeouts | None = None
) -> tuple[RewarderError, RewardBuffer]:
    """Connect to a scripted peer; return the error that ended the connection, and the buffer."""
    buffer = RewardBuffer()
    async with evil(script) as address:
        client = await RewarderClient.connect(address, buffer=buffer, timeouts=timeouts)
        async with asyncio.timeout(60):
            return await client.closed(), buffer


def sends(*frames: str | bytes) -> Script:
    async def script(websocket: ServerConnection) -> None:
        for frame in frames:
            await websocket.send(frame)
        await websocket.wait_closed()

    return script


async def test_a_stranger_has_no_version():
    async with evil(sends()) as address:
        client = await RewarderClient.connect(address, buffer=RewardBuffer())
        assert client.remote_version is None
        await client.close()


@pytest.mark.fault("F20", "WebSocket close codes")
@pytest.mark.parametrize(
    ("code", "retry"),
    [
        (1000, False), (1001, True), (1002, False), (1003, False), (1007, False), (1008, False), (1009, False),
        (1011, True), (1012, True), (1013, True), (4000, False), (4408, True),
    ],
)  # fmt: skip
async def test_f20_close_codes(measure, code, retry):
    async def script(websocket: ServerConnection) -> None:
        await websocket.close(code, "because")

    error, _ = await the_end(script)
    assert type(error) is PeerLost
    assert (error.code, error.reason) == (code, "because")
    measure(f"tried again after {code}", error.retry, equals=retry)


@pytest.mark.fault("F20", "WebSocket close codes")
@pytest.mark.parametrize(("code", "kind", "retry"), [(4401, AuthError, False), (4409, ControllerBusy, True)])
async def test_f20_application_codes(measure, code, kind, retry):
    async def script(websocket: ServerConnection) -> None:
        await websocket.close(code, "because")

    error, _ = await the_end(script)
    assert type(error) is kind
    measure(f"tried again after {code}", error.retry, equals=retry)


@pytest.mark.fault("F20", "WebSocket close codes")
async def test_f20_no_close_frame_is_1006(measure):
    async def script(websocket: ServerConnection) -> None:
        websocket.transport.abort()

    error, _ = await the_end(script)
    assert error.code == 1006
    measure("tried again after 1006", error.retry, equals=True)


async def test_the_peers_own_words_are_the_reason():
    async def script(websocket: ServerConnection) -> None:
        await websocket.send('{"method":"v0.connection.close","body":{"message":"time limit reached"}}')
        await websocket.close(1000)

    error, _ = await the_end(script)
    assert str(error) == "connection closed, code 1000: time limit reached"


@pytest.mark.fault("F21", "HTTP errors at upgrade")
@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (401, AuthError),
        (403, AuthError),
        (404, ConnectError),
        (429, ConnectError),
        (500, ConnectError),
        (503, ConnectError),
    ],
)
async def test_f21_http_errors(measure, status, kind):
    def process_request(websocket: ServerConnection, request: object) -> object:
        return websocket.respond(HTTPStatus(status), "no\n")

    async with evil(sends(), process_request=process_request) as address:
        with pytest.raises(kind, match=f"http status {status}") as caught:
            await RewarderClient.connect(address, buffer=RewardBuffer())
    measure(f"tried again after {status}", caught.value.retry, equals=kind is ConnectError)


@pytest.mark.fault("F21", "HTTP errors at upgrade")
@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_f21_redirects_are_not_followed(measure, status):
    visits: list[str | None] = []

    def collect(websocket: ServerConnection, request: object) -> None:
        visits.append(request.headers.get("authorization"))

    async with evil(sends(), process_request=collect) as target:

        def redirect(websocket: ServerConnection, request: object) -> object:
            response = websocket.respond(HTTPStatus(status), "")
            response.headers["Location"] = f"ws://{target}/"
            return response

        async with evil(sends(), process_request=redirect) as address:
            with pytest.raises(ConnectError, match="redirects are not followed"):
                await RewarderClient.connect(address, buffer=RewardBuffer())
    measure("requests to the target of a redirect", len(visits), equals=0)


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"RFB 003.008\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
        b"\x16\x03\x01" * 50,
        b"HTTP/1.1 101 x\r\n\r\n",
    ],
)
async def test_what_is_no_rewarder_is_a_connect_error(answer):
    async with evil_tcp(answer) as address:
        with pytest.raises(ConnectError):
            await RewarderClient.connect(address, buffer=RewardBuffer())


async def test_a_silent_port_is_given_up_in_time():
    async with evil_tcp(None) as address:
        with pytest.raises(ConnectError, match=r"not open within 0\.1 s"):
            await RewarderClient.connect(address, buffer=RewardBuffer(), timeouts=RewarderTimeouts(open=0.1))


async def test_nobody_listens(unused_tcp_port):
    with pytest.raises(ConnectError) as caught:
        await RewarderClient.connect(RewarderAddress("127.0.0.1", unused_tcp_port), buffer=RewardBuffer())
    assert caught.value.retry


@pytest.mark.fault("F25", "malformed JSON, binary frame, 2 MiB frame, depth 10 k")
@pytest.mark.parametrize(
    ("frame", "code"),
    [
        (b"\x00\x01", 1003), ("{", 1007), ("[" * 10_000, 1007), ("x" * (2 << 20), 1009), ("not json", 1007),
        ('{"method":"v0.env.text","body":{"text":' + "[" * 10_000 + "]" * 10_000 + "}}", 1007),
        ('{"method":"v0.env.reward","headers":{"episode_id":"x"},"body":{"reward":1}}', 1007),
        ('{"method":"v0.env.reward","headers":{"episode_id":"' + "\U0001f600" * 99 + '"}}', 1007),
    ],
)  # fmt: skip
async def test_f25_what_breaks_the_protocol_closes_with_its_code(measure, frame, code):
    seen: list[int | None] = []

    async def script(websocket: ServerConnection) -> None:
        await websocket.send(REWARD)
        await websocket.send(frame)
        await websocket.wait_closed()
        seen.append(websocket.close_code)

    error, buffer = await the_end(script)
    assert type(error) is ProtocolError
    assert (error.code, error.retry) == (code, False)
    assert buffer.pop().reward == 1
    measure("code sent", str(seen[0]), equals=str(code))


@pytest.mark.fault(
    "F24", "describe(running) before reset reply, reward before describe, unknown method, unknown field"
)
async def test_f24_oddities_end_nothing(measure):
    frames = [
        REWARD,
        '{"method":"v0.env.describe","headers":{"episode_id":1,"message_id":"5"},"body":{"env_state":"running","x":1}}',
        '{"method":"v0.hello","headers":{},"body":null}',
        '{"method":"v0.reply.env.reset","headers":{"parent_message_id":"99","episode_id":"7"},"body":null}',
        '{"method":"v0.reply.control.ping","headers":{"parent_message_id":"99"},"body":null}',
        '{"method":"v0.env.text","headers":{"episode_id":"1"},"body":null}',
    ]

    async def script(websocket: ServerConnection) -> None:
        for frame in frames:
            await websocket.send(frame)
        await websocket.close(1001)

    error, buffer = await the_end(script)
    popped = buffer.pop()
    assert (popped.truncated, popped.running) == (False, EPISODE)
    measure("sum of 1 before odd messages", popped.reward, equals=1)
    measure("close code, where the peer sends 1001", error.code, equals=1001)


async def test_a_silent_peer_is_lost_within_its_deadline():
    async def script(websocket: ServerConnection) -> None:
        websocket.transport.pause_reading()
        await websocket.wait_closed()

    error, _ = await the_end(script, RewarderTimeouts(ping_interval=0.05, ping_timeout=0.05, close=0.1))
    assert (error.code, error.retry) == (1006, True)
    assert "no pong" in str(error)


@pytest.mark.fault("F29", "peer never reads our bytes")
async def test_f29_a_peer_that_never_reads_is_lost_at_the_bound(measure):
    async def script(websocket: ServerConnection) -> None:
        websocket.transport.pause_reading()
        await websocket.wait_closed()

    async with evil(script) as address:
        client = await RewarderClient.connect(address, buffer=RewardBuffer())
        before = resident_bytes()
        for _ in range(2000):
            client.action("a", [["x" * 10_000]])
            if client.error is not None:
                break
        measure("memory", (resident_bytes() - before) / 2**20, at_most=16, unit="MiB")
        async with asyncio.timeout(60):
            error = await client.closed()
    assert (error.code, error.retry) == (1006, True)
    assert "does not read" in str(error)


async def test_a_callback_that_fails_ends_the_connection_and_is_heard():
    def broken(envelope: object) -> None:
        raise LookupError("mine")

    async with evil(sends(REWARD)) as address:
        client = await RewarderClient.connect(address, buffer=RewardBuffer(), on_message=broken)
        with pytest.raises(LookupError, match="mine"):
            await client.closed()
        assert client.error is not None


@pytest.mark.fault("F19", "clock skew +- 1 h, NTP step")
@pytest.mark.parametrize("skew", [3600.0, -3600.0])
async def test_f19_skew_moves_no_deadline(measure, skew):
    async def script(websocket: ServerConnection) -> None:
        async for frame in websocket:
            headers = {
                "parent_message_id": json.loads(frame)["headers"]["message_id"],
                "sent_at": time.time() + skew,
            }
            await websocket.send(
                json.dumps({"method": "v0.reply.control.ping", "headers": headers, "body": {}})
            )

    samples = asyncio.Event()
    async with evil(script) as address:
        client = await RewarderClient.connect(
            address,
            buffer=RewardBuffer(),
            on_message=lambda _: client.clock.samples >= BURST and samples.set(),
        )
        async with asyncio.timeout(60):
            await samples.wait()
        wrong = abs(client.clock.skew - skew) - client.clock.rtt / 2
        measure("error beyond half a round trip", 1e3 * max(wrong, 0.0), at_most=1, unit="ms")
        assert client.clock.rtt < 1
        assert client.error is None
        await client.close()


def resident_bytes() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


@pytest.mark.fault("F28", "reward flood 100 k msg/s")
@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="needs /proc")
async def test_f28_a_flood_of_100k_rewards_does_not_grow_memory(measure):
    connected = asyncio.Event()
    head, tail = REWARD.split('"headers":{')

    async def script(websocket: ServerConnection) -> None:
        await connected.wait()
        for number in range(100_000):
            await websocket.send(f'{head}"headers":{{"message_id":{number},{tail}')
        await websocket.close(1000)

    async with evil(script, close_timeout=60.0) as address:
        buffer = RewardBuffer()
        client = await RewarderClient.connect(address, buffer=buffer)
        before = resident_bytes()
        connected.set()
        error = await client.closed()
        grown = resident_bytes() - before
    assert (type(error), error.code) == (PeerLost, 1000)
    popped = buffer.pop()
    assert (popped.count, popped.duplicate) == (100_000, 0)
    measure("sum of 100,000", popped.reward, equals=100_000)
    measure("memory", grown / 2**20, at_most=8, unit="MiB")
