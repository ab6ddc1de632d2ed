"""Faults of OpenAI Universe's rewarder client and server, one test for each."""

from __future__ import annotations

import asyncio
import hmac
import json
import logging

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from rewarder.credentials import authorization, wire_logger
from rewarder.protocol.buffer import RewardBuffer
from rewarder.protocol.codec import decode
from rewarder.protocol.episode import EpisodeId
from rewarder.protocol.messages import Describe, ReplyReset, Reset
from rewarder.protocol.sessions import ClientSession, ServerSession
from rewarder.server.authenticator import Authenticator

PASSWORD = "canary-7f3a"


def eid(number: int | str) -> EpisodeId:
    return EpisodeId.parse(number)


def test_reward_buffer_late_message_of_an_older_episode_does_not_end_the_current_one():
    """`push('5')`, late `push('4')`, `pop()` was (1.0, True), and the agent was blind afterwards."""
    buffer = RewardBuffer()
    buffer.connect()
    buffer.feed.describe(eid(5), Describe("a", "running", 60))
    buffer.feed.reward(eid(5), 1.0, False)
    buffer.feed.reward(eid(4), 9.0, False)
    popped = buffer.pop()
    assert (popped.reward, popped.terminated, popped.truncated, popped.stale) == (1.0, False, False, 1)
    assert popped.running == eid(5)


def test_reward_buffer_duplicate_message_adds_no_reward():
    """A repeated message was summed twice."""
    buffer = RewardBuffer()
    session = ClientSession(buffer)
    frame = '{"method":"v0.env.reward","headers":{"message_id":3,"episode_id":"1"},"body":{"reward":1}}'
    session.receive(frame, 0.0, 0.0)
    session.receive(frame, 0.0, 0.0)
    popped = buffer.pop()
    assert (popped.reward, popped.count, popped.duplicate) == (1.0, 1, 1)


def test_reward_buffer_skipped_episodes_are_not_lost():
    """Advancing went to the newest episode; a finished one in between vanished with its reward and its done."""
    buffer = RewardBuffer()
    buffer.connect()
    buffer.feed.reward(eid(2), 1.0, True)
    buffer.feed.reward(eid(3), 10.0, True)
    buffer.feed.reward(eid(4), 100.0, False)
    popped = buffer.pop()
    assert (popped.reward, popped.terminated, popped.skipped_episodes) == (11.0, True, 1)
    assert buffer.pop().reward == 100.0


def test_reward_buffer_overlapping_resets_do_not_expose_the_first_ones_episode():
    """Any reset reply unmasked, whichever reset it answered."""
    buffer = RewardBuffer()
    session, server = ClientSession(buffer), ServerSession(1)
    for _ in range(2):
        buffer.begin_reset()
        session.reset(Reset("a", None, 60), 0.0)
    first, second = [server.receive(frame, 0.0, 0.0) for frame in session.data_to_send()]
    for request, number in ((first, 1), (second, 2)):
        server.reply(request, ReplyReset(), 0.0, 0.0, eid(number))
        [frame] = server.data_to_send()
        session.receive(frame, 0.0, 0.0)
        assert buffer.pop().episode_id == (None if request is first else eid(2))


@pytest.mark.parametrize("wire", ['"1.2"', "1.2"])
def test_env_status_reads_the_episode_id_of_its_own_document(wire):
    """The document says "1.2"; `int("1.2")` raised inside the reactor."""
    frame = f'{{"method":"v0.env.text","headers":{{"episode_id":{wire}}},"body":{{"text":"x"}}}}'
    assert decode(frame).headers.episode_id == eid("1.2")
    assert eid(1) < eid("1.2") < eid("1.10") < eid(2)


@pytest.mark.parametrize("password", [PASSWORD, "canary-wrong"])
async def test_remote_passwords_are_in_no_log_and_no_answer(bench, caplog, password):
    """The expected password was logged, the wrong one echoed in the close reason."""
    caplog.set_level(logging.DEBUG)
    caplog.set_level(logging.DEBUG, logger="rewarder.wire.server")
    server = await bench.serve(password=PASSWORD)
    answer = ""
    try:
        async with connect(
            f"ws://127.0.0.1:{server.port}/",
            additional_headers={"authorization": authorization(password)},
            proxy=None,
            logger=wire_logger("rewarder.wire.test"),
        ):
            pass
    except InvalidStatus as refused:
        answer = str(refused.response.headers) + refused.response.body.decode()
    assert "Authorization: [hidden]" in caplog.text or "authorization: [hidden]" in caplog.text
    for secret in ("canary", authorization(password).split()[1]):
        assert secret not in caplog.text + answer


async def test_remote_never_registers_a_client_that_failed_to_authenticate(bench):
    """After a failed `authenticate`, `onOpen` continued: the client was registered and received the state."""
    server = await bench.serve(password=PASSWORD)
    server.describe(eid(1), Describe("secret-env", "running", 60))
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    writer.write(
        b"GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    )
    server.reward(eid(1), 1.0, False)
    async with asyncio.timeout(60):
        answer = await reader.read()
    writer.close()
    await writer.wait_closed()
    assert answer.startswith(b"HTTP/1.1 401 ")
    assert b"secret-env" not in answer
    assert b"v0." not in answer
    assert (server.controllers, server.observers) == (0, 0)


async def test_remote_compares_passwords_in_constant_time(monkeypatch):
    """The duration of `==` revealed how much of a guess was right."""
    compared: list[tuple[int, int]] = []
    real = hmac.compare_digest

    def spy(a: bytes, b: bytes) -> bool:
        compared.append((len(a), len(b)))
        return real(a, b)

    monkeypatch.setattr(hmac, "compare_digest", spy)
    for header in (None, "Bearer x", "Bearer " + "x" * 500, authorization(PASSWORD)):
        await Authenticator(PASSWORD).check(header, "::1")
    assert compared == [(32, 32)] * 4


async def test_remote_tells_bad_password_busy_and_idle_apart_without_prose(bench):
    """Every refusal was close code 1000 and a sentence."""
    server = await bench.serve(password=PASSWORD)
    await bench.connect(server.port)
    headers = {"authorization": authorization(PASSWORD)}
    url = f"ws://127.0.0.1:{server.port}/"
    async with connect(url, additional_headers=headers, proxy=None) as second:
        with pytest.raises(ConnectionClosed):
            while True:
                await second.recv()
        assert second.close_code == 4409
    with pytest.raises(InvalidStatus, match="401"):
        await connect(url, proxy=None)
    async with connect(url, additional_headers=headers | {"openai-observer": "true"}, proxy=None) as third:
        await server.close(4408, "idle")
        with pytest.raises(ConnectionClosed):
            while True:
                await third.recv()
        assert third.close_code == 4408


def test_remote_answers_unknown_methods():
    """An unknown client method got no answer, and its caller waited for ever."""
    server = ServerSession(1)
    server.receive('{"method":"v0.env.launch","headers":{"message_id":7}}', 0.0, 0.0)
    [frame] = server.data_to_send()
    reply = json.loads(frame)
    assert (reply["method"], reply["headers"]["parent_message_id"]) == ("v0.reply.error", 7)


def test_rewarder_client_matches_a_parent_message_id_that_is_a_string():
    """The document writes `parent_message_id` as a string, which was never matched."""
    buffer = RewardBuffer()
    session = ClientSession(buffer)
    buffer.begin_reset()
    message_id = session.reset(Reset("a", None, 60), 0.0)
    session.receive(
        f'{{"method":"v0.reply.env.reset","headers":{{"parent_message_id":"{message_id}","episode_id":"3"}}}}',
        0.0,
        0.0,
    )
    assert buffer.pop().episode_id == eid(3)


def test_authorization_of_a_long_password_is_one_line():
    """`base64.encodestring` wrapped long values and broke the header."""
    assert "\n" not in authorization("x" * 500)
