"""The server against real clients, and against peers that misbehave."""

from __future__ import annotations

import asyncio
import json
import socket

import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from rewarder.credentials import authorization
from rewarder.errors import ControllerBusy, PeerLost
from rewarder.protocol.episode import EpisodeId
from rewarder.protocol.messages import Describe, Envelope, Reset
from rewarder.server.authenticator import FREE_FAILURES, Authenticator
from rewarder.server.server import RewarderServer, ServerLimits
from rewarder.version import VERSION

EPISODE = EpisodeId((1,))
PASSWORD = "canary-7f3a"


def raw(port: int, *, password: str | None = PASSWORD, observer: bool = False, **headers: str) -> connect:
    """A client other than this package's."""
    if password is not None:
        headers["authorization"] = authorization(password)
    headers["openai-observer"] = str(observer).lower()
    return connect(
        f"ws://127.0.0.1:{port}/",
        additional_headers={name.replace("_", "-"): value for name, value in headers.items()},
        compression=None,
        proxy=None,
        max_size=None,
        close_timeout=1,
    )


async def until_closed(websocket: ClientConnection) -> list[dict]:
    """Return everything that the server still sends."""
    frames = []
    try:
        async with asyncio.timeout(60):
            while True:
                frames.append(json.loads(await websocket.recv()))
    except ConnectionClosed:
        return frames


async def http(port: int, request: str) -> tuple[str, dict[str, str], str]:
    """One plain HTTP exchange."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(request.encode())
    async with asyncio.timeout(60):
        answer = (await reader.read()).decode()
    writer.close()
    await writer.wait_closed()
    head, _, body = answer.partition("\r\n\r\n")
    status, *lines = head.split("\r\n")
    return status, dict(line.lower().split(": ", 1) for line in lines), body


async def test_newcomers_are_told_the_state(bench):
    server = await bench.serve()
    server.describe(EPISODE, Describe("a", "running", 60))
    _, buffer = await bench.connect(server.port)
    await bench.until(lambda: buffer.running)
    popped = buffer.pop()
    assert (popped.env_id, buffer.fps, popped.running) == ("a", 60.0, EPISODE)


async def test_what_is_written_is_what_shipped_clients_need(bench):
    server = await bench.serve()
    server.describe(EPISODE, Describe("a", "running", 60))
    async with raw(server.port) as websocket:
        first = json.loads(await websocket.recv())
        await websocket.send('{"method":"v0.env.reset","headers":{"message_id":4},"body":{"env_id":"a"}}')
        await bench.until(lambda: bench.resets)
        server.reply_reset(bench.resets[0], EpisodeId((2,)))
        reply = json.loads(await websocket.recv())
    assert first["headers"].keys() == {"message_id", "sent_at", "episode_id"}
    assert first["headers"]["episode_id"] == "1"
    assert first["body"] == {"env_id": "a", "env_state": "running", "fps": 60, "time_scale": None}
    assert isinstance(first["headers"]["sent_at"], float)
    assert (reply["method"], reply["body"]) == ("v0.reply.env.reset", {})
    assert (reply["headers"]["parent_message_id"], reply["headers"]["episode_id"]) == (4, "2")


@pytest.mark.parametrize("password", [None, "", "wrong", PASSWORD + "x"])
async def test_a_wrong_password_is_401_before_any_frame(bench, password):
    server = await bench.serve()
    with pytest.raises(InvalidStatus) as caught:
        await raw(server.port, password=password)
    response = caught.value.response
    assert response.status_code == 401
    assert response.body == b"unauthorized\n"
    assert server.controllers == server.observers == 0


async def test_the_bearer_form_is_accepted(bench):
    server = await bench.serve()
    async with raw(server.port, password=None, authorization=f"Bearer {PASSWORD}"):
        pass


async def test_without_a_password_none_is_needed(bench):
    server = await bench.serve(password=None)
    async with raw(server.port, password=None):
        pass


async def test_guessing_is_slowed_down(bench):
    server = await bench.serve(authenticator=Authenticator(PASSWORD, delay=0.2))
    for _ in range(FREE_FAILURES):
        with pytest.raises(InvalidStatus):
            await raw(server.port, password="wrong")
    started = asyncio.get_running_loop().time()
    with pytest.raises(InvalidStatus):
        await raw(server.port, password="wrong")
    assert asyncio.get_running_loop().time() - started >= 0.2


@pytest.mark.parametrize(
    ("origin", "allowed"), [("http://evil.example", False), ("null", False), (None, True)]
)
async def test_pages_of_other_hosts_are_refused(bench, origin, allowed):
    server = await bench.serve()
    origin = origin or f"http://127.0.0.1:{server.port}"
    if allowed:
        async with raw(server.port, origin=origin):
            return
    with pytest.raises(InvalidStatus) as caught:
        await raw(server.port, origin=origin)
    assert caught.value.response.status_code == 403


async def test_other_paths_are_404(bench):
    server = await bench.serve()
    status, _, _ = await http(server.port, "GET /viewer HTTP/1.1\r\nHost: localhost\r\n\r\n")
    assert " 404 " in status


async def test_the_health_page_needs_no_password_and_tells_none(bench):
    server = await bench.serve(health=lambda: {"env_state": "running", "fps": 60})
    async with raw(server.port), raw(server.port, observer=True):
        status, headers, body = await http(
            server.port, "GET /healthz?x=1 HTTP/1.1\r\nHost: localhost\r\n\r\n"
        )
    assert " 200 " in status
    assert headers["content-type"] == "application/json"
    assert headers["server"] == f"universe-client/{VERSION}"
    assert json.loads(body) == {"controllers": 1, "observers": 1, "env_state": "running", "fps": 60}


async def test_a_second_controller_is_told_and_refused(bench):
    server = await bench.serve()
    first, _ = await bench.connect(server.port)
    async with raw(server.port) as second:
        [goodbye] = await until_closed(second)
        assert second.close_code == 4409
    assert goodbye["method"] == "v0.connection.close"
    assert goodbye["body"] == {"message": "another controller is active"}
    third, _ = await bench.connect(server.port)
    assert type(await third.closed()) is ControllerBusy
    assert (server.controllers, first.error) == (1, None)


async def test_the_place_is_free_as_soon_as_the_controller_leaves(bench):
    server = await bench.serve()
    for _ in range(20):
        client, _ = await bench.connect(server.port)
        await client.close()
        assert str(await client.closed()) == "connection closed, code 1000: closed by us"


async def test_observers_hear_everything_and_move_nothing(bench):
    server = await bench.serve()
    _, controller = await bench.connect(server.port)
    observer, heard = await bench.connect(server.port, observer=True)
    await bench.until(lambda: server.observers)
    observer.reset(Reset("a"))
    observer.action("a", [["x"]])
    await bench.until(lambda: observer.reset_error)
    server.describe(EPISODE, Describe("a", "running", 60))
    server.reward(EPISODE, 2, True)
    heard.begin_reset()
    await bench.until(lambda: sum(each.message.method == "v0.env.reward" for each in bench.messages) == 2)
    assert controller.pop().reward == 2
    assert (bench.resets, bench.actions) == ([], [])
    assert str(observer.reset_error) == "reset rejected: observers may only ping"
    assert (server.controllers, server.observers, observer.error) == (1, 1, None)


async def test_observers_are_bounded(bench):
    server = await bench.serve(limits=ServerLimits(observers=1))
    async with raw(server.port, observer=True), raw(server.port, observer=True) as second:
        await until_closed(second)
        assert second.close_code == 1013


@pytest.mark.parametrize(
    ("frame", "code"),
    [(b"\x00", 1003), ("{", 1007), ("[" * 10_000, 1007), ("x" * (2 << 20), 1009), ('{"method":7}', 1007)],
)
async def test_f25_what_breaks_the_protocol_closes_with_its_code(bench, frame, code):
    server = await bench.serve()
    async with raw(server.port) as websocket:
        await websocket.send(frame)
        await until_closed(websocket)
        assert websocket.close_code == code
    client, _ = await bench.connect(server.port)
    assert client.error is None


async def test_an_unknown_method_gets_an_error_reply(bench):
    server = await bench.serve()
    async with raw(server.port) as websocket:
        await websocket.send('{"method":"v0.env.launch","headers":{"message_id":"12"},"body":null}')
        reply = json.loads(await websocket.recv())
    assert (reply["method"], reply["headers"]["parent_message_id"]) == ("v0.reply.error", 12)


@pytest.mark.parametrize("observer", [True, False])
async def test_f29_a_client_that_does_not_read_is_dropped_and_the_others_are_not(bench, observer):
    server = await bench.serve(limits=ServerLimits(outgoing=64 * 1024, close_timeout=0.2))
    deaf = await raw(server.port, observer=observer)
    deaf.transport.pause_reading()
    _, buffer = await bench.connect(server.port, observer=not observer)
    await bench.until(lambda: server.controllers + server.observers == 2)
    for number in range(1, 400):
        server.text(EPISODE, "x" * 20_000)
        server.reward(EPISODE, 1, False)
        await bench.until(
            lambda number=number: (
                sum(each.message.method == "v0.env.reward" for each in bench.messages) == number
            )
        )
    assert server.controllers + server.observers == 1
    assert buffer.pop().reward == 399
    deaf.transport.abort()


async def test_a_dead_controller_is_noticed(bench):
    server = await bench.serve(
        limits=ServerLimits(ping_interval=0.05, ping_timeout=0.05, close_timeout=0.05), idle_timeout=0.01
    )
    deaf = await raw(server.port)
    deaf.transport.pause_reading()
    async with asyncio.timeout(60):
        await server.idle()
    assert server.controllers == 0
    deaf.transport.abort()


async def test_idle_means_no_controller_for_a_while(bench):
    server = await bench.serve(idle_timeout=0.1)
    client, _ = await bench.connect(server.port)
    await bench.connect(server.port, observer=True)
    idle = asyncio.create_task(server.idle())
    await asyncio.wait([idle], timeout=0.3)
    assert not idle.done()
    await client.close()
    async with asyncio.timeout(60):
        await idle


async def test_a_server_nobody_ever_came_to_is_idle(bench):
    server = await bench.serve(idle_timeout=0.01)
    async with asyncio.timeout(60):
        await server.idle()
    _, _ = await bench.connect(server.port)
    await bench.until(lambda: bench.messages)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await server.idle()


@pytest.mark.parametrize(("code", "reason"), [(1001, ""), (4408, "idle for 600 s"), (1011, "KeyError")])
async def test_closing_says_why(bench, code, reason):
    server = await bench.serve()
    client, _ = await bench.connect(server.port)
    await bench.until(lambda: bench.messages)
    await server.close(code, reason)
    await server.close()
    error = await client.closed()
    assert isinstance(error, PeerLost)
    assert (error.code, error.reason) == (code, reason or "the rewarder is shutting down")


async def test_a_long_reason_fits_the_close_frame(bench):
    server = await bench.serve()
    client, _ = await bench.connect(server.port)
    await bench.until(lambda: bench.messages)
    await server.close(1011, "ä" * 300)
    assert (await client.closed()).reason == "ä" * 300


async def test_closing_does_not_wait_for_silent_peers(bench):
    server = await bench.serve()
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    writer.write(b"GET / HT")
    async with raw(server.port):
        pass
    async with asyncio.timeout(60):
        await server.close()
        assert await reader.read() == b""
    writer.close()
    await writer.wait_closed()


async def test_replies_to_clients_that_left_are_dropped(bench):
    server = await bench.serve()
    client, _ = await bench.connect(server.port)
    client.reset(Reset("a"))
    await bench.until(lambda: bench.resets)
    await client.close()
    server.reply_reset(bench.resets[0], EPISODE)
    server.reply_error(bench.resets[0], "too late")


async def test_it_binds_loopback_and_any_free_port(bench):
    first, second = await bench.serve(), await bench.serve()
    assert first.port != second.port
    with socket.create_connection(("127.0.0.1", first.port)) as probe:
        assert probe.getpeername()[0] == "127.0.0.1"
    with pytest.raises(OSError, match="in use"):
        await RewarderServer(password=None, on_reset=bench.resets.append).start(port=first.port)


def test_there_is_no_port_before_the_start():
    with pytest.raises(RuntimeError, match="not been started"):
        _ = RewarderServer(password=None, on_reset=lambda _: None).port


@pytest.mark.parametrize("reward", [float("nan"), float("inf")])
async def test_a_reward_must_be_finite(bench, reward):
    server = await bench.serve()
    with pytest.raises(ValueError, match="not a finite number"):
        server.reward(EPISODE, reward, False)


async def test_a_client_sees_messages_after_the_buffer_does(bench):
    server = await bench.serve()
    seen: list[object] = []

    def look(envelope: Envelope) -> None:
        seen.append((envelope.message.method, buffer.running))
        bench.bell.set()

    bench._message = look
    server.describe(EPISODE, Describe("a", "running", 60))
    _, buffer = await bench.connect(server.port)
    await bench.until(lambda: seen)
    assert seen[0] == ("v0.env.describe", EPISODE)
