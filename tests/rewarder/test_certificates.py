"""The rewarder's channel over TLS (F35): real sockets and certificates, and no password for other servers."""

from __future__ import annotations

import asyncio
import logging
import struct
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest

from rewarder.client import RewarderAddress, RewarderClient, RewarderTimeouts
from rewarder.credentials import authorization
from rewarder.errors import AuthError, ConnectError, RewarderError
from rewarder.protocol.buffer import RewardBuffer
from rewarder.protocol.messages import Describe, Reset
from rewarder.server.server import ServerLimits
from tests.rewarder.conftest import EPISODE, PASSWORD, Bench
from tests.support.network.certificates import Authority
from tests.support.vnc.rfb import Peer, listening
from tests.support.vnc.vencrypt import breaking_off
from vnc.tls import TLS

HANDSHAKE, CHANGE, ALERT, APPLICATION = 22, 20, 21, 23


async def why_not(port: int, tls: TLS, *, host: str = "127.0.0.1", **timeouts: float) -> RewarderError:
    """Why there is no connection."""
    with pytest.raises(RewarderError) as caught:
        await RewarderClient.connect(
            RewarderAddress(host, port, PASSWORD, tls),
            buffer=RewardBuffer(),
            timeouts=RewarderTimeouts(**timeouts),
        )
    assert str(caught.value).startswith(f"{host}:{port}: ")
    assert PASSWORD not in str(caught.value)
    return caught.value


@asynccontextmanager
async def tapped(port: int) -> AsyncIterator[tuple[int, bytearray]]:
    """A proxy of `port`, which records what clients send."""
    heard = bytearray()

    async def copy(reader: asyncio.StreamReader, write: Callable[[bytes], object]) -> None:
        while data := await reader.read(1 << 16):
            write(data)

    async def talk(peer: Peer) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)

        def note(data: bytes) -> None:
            heard.extend(data)
            writer.write(data)

        back = asyncio.create_task(copy(reader, peer.write))
        try:
            await copy(peer.reader, note)
        finally:
            writer.transport.abort()
            back.cancel()
            await asyncio.wait([back])

    async with listening(talk) as tap:
        yield tap, heard


def records(data: bytes) -> list[int]:
    """The types of the TLS records in `data`, which has nothing else."""
    kinds = []
    while data:
        kind, version, length = struct.unpack_from(">BHH", data)
        assert version >> 8 == 3 and len(data) >= 5 + length
        kinds.append(kind)
        data = data[5 + length :]
    return kinds


async def test_rewards_come_over_tls_and_nothing_of_it_is_in_the_clear(bench: Bench, authority, identity):
    server = await bench.serve(tls=identity.context())
    server.describe(EPISODE, Describe("test.Env-v0", "running", 60.0))
    async with tapped(server.port) as (port, heard):
        client, buffer = await bench.connect(port, tls=TLS(ca_file=authority.certificate))
        await bench.until(lambda: buffer.running == EPISODE)
        server.reward(EPISODE, 1.5, False)
        await bench.until(lambda: buffer.pop().reward == 1.5)
        client.reset(Reset("test.Env-v0"))
        await bench.until(lambda: bench.resets)
        assert records(bytes(heard)).count(APPLICATION) >= 2
        for secret in (PASSWORD, authorization(PASSWORD), "v0.env.reset", "Upgrade"):
            assert secret.encode() not in heard
        await client.close()


async def test_a_wrong_password_is_told_as_ever(bench: Bench, authority, identity):
    server = await bench.serve(tls=identity.context())
    with pytest.raises(AuthError, match="401"):
        await bench.connect(server.port, password="wrong", tls=TLS(ca_file=authority.certificate))


async def test_a_certificate_must_be_of_a_trusted_authority_for_this_host_and_day(
    bench: Bench, tmp_path, authority
):
    (tmp_path / "other").mkdir()
    other = Authority(tmp_path / "other", "other")
    for identity, tls, words in (
        (authority.identity("127.0.0.1"), TLS(), "certificate"),
        (authority.identity("127.0.0.1"), TLS(ca_file=other.certificate), "certificate"),
        (authority.identity("elsewhere"), TLS(ca_file=authority.certificate), "'127.0.0.1'"),
        (authority.identity("127.0.0.1", days=0), TLS(ca_file=authority.certificate), "expired"),
    ):
        server = await bench.serve(tls=identity.context())
        async with tapped(server.port) as (port, heard):
            error = await why_not(port, tls)
            assert type(error) is AuthError and not error.retry
            assert "the server's certificate is refused: " in str(error) and words in str(error)
            # In TLS 1.3 what ends a handshake is encrypted: one alert, and a request would be one more.
            kinds = records(bytes(heard))
            assert kinds[0] == HANDSHAKE and kinds.count(APPLICATION) <= 1
            assert set(kinds) <= {HANDSHAKE, CHANGE, ALERT, APPLICATION}


async def test_a_pinned_certificate_is_enough_and_another_hears_no_request(bench: Bench, authority):
    elsewhere = authority.identity("elsewhere.example")
    server = await bench.serve(tls=elsewhere.context())
    client, _ = await bench.connect(server.port, tls=TLS(fingerprint=elsewhere.fingerprint))
    await client.close()
    async with tapped(server.port) as (port, heard):
        error = await why_not(port, TLS(fingerprint=bytes(32)))
    assert type(error) is AuthError
    assert f"the fingerprint {elsewhere.fingerprint.hex(':')}, which is not the pinned one" in str(error)
    # The end of a handshake in TLS 1.3 is one encrypted record, and a request would be one more.
    assert records(bytes(heard)).count(APPLICATION) <= 1


async def test_any_certificate_will_do_where_that_is_said_and_each_time_it_is_logged(
    bench: Bench, authority, caplog
):
    server = await bench.serve(tls=authority.identity("elsewhere").context())
    for _ in range(2):
        client, _ = await bench.connect(server.port, tls=TLS(insecure=True))
        await client.close()
    assert caplog.text.count("the identity of the server is not checked (insecure)") == 2


async def test_authorities_that_cannot_be_read_are_named(authority):
    error = await why_not(9, TLS(ca_file=authority.certificate.with_name("missing.pem")))
    assert type(error) is AuthError and "missing.pem" in str(error)


# -- servers that have no TLS, or too little


async def test_a_server_without_tls_is_refused_and_never_asked_in_the_clear(bench: Bench):
    server = await bench.serve()
    async with tapped(server.port) as (port, heard):
        error = await why_not(port, TLS(insecure=True))
    assert type(error) is AuthError and not error.retry
    assert "TLS failed: the server's answer is not TLS" in str(error)
    assert heard[0] == HANDSHAKE and b"Upgrade" not in heard


async def test_a_server_that_says_something_else_in_the_place_of_tls_is_an_auth_error():
    async with listening(breaking_off(b"HTTP/1.1 400 Bad Request\r\n\r\n")) as port:
        error = await why_not(port, TLS(insecure=True))
    assert type(error) is AuthError and "TLS failed: " in str(error)


@pytest.mark.parametrize("answer", [b"", b"\x16\x03\x03"])
async def test_f35_a_connection_that_ends_in_tls_is_a_connect_error(answer):
    async with listening(breaking_off(answer)) as port:
        error = await why_not(port, TLS(insecure=True))
    assert type(error) is ConnectError and error.retry


async def test_a_server_that_is_silent_in_tls_meets_the_deadline():
    async with listening(Peer.idle) as port:
        error = await why_not(port, TLS(insecure=True), open=0.3)
    assert type(error) is ConnectError and "not open within 0.3 s" in str(error)


async def test_nobody_there_is_a_connect_error_and_tried_again():
    async with listening(Peer.idle) as port:
        pass
    error = await why_not(port, TLS(insecure=True))
    assert type(error) is ConnectError and error.retry


# -- the server's side


async def test_a_client_without_tls_hears_nothing_and_costs_nobody_else_anything(
    bench: Bench, authority, identity, caplog
):
    caplog.set_level(logging.INFO)
    server = await bench.serve(tls=identity.context())
    with pytest.raises(ConnectError):
        await bench.connect(server.port)
    client, _ = await bench.connect(server.port, tls=TLS(ca_file=authority.certificate))
    assert server.controllers == 1
    assert PASSWORD not in caplog.text
    await client.close()


async def test_a_client_that_is_silent_in_tls_meets_the_servers_deadline(bench: Bench, identity):
    server = await bench.serve(tls=identity.context(), limits=ServerLimits(open_timeout=0.2))
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    async with asyncio.timeout(60):
        assert await reader.read() == b""
    writer.close()
