"""TLS fails: untrusted servers, and connections that end during the handshake (F35)."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

import pytest

from tests.support.remotes.agent import failed, one_step, until
from tests.support.vnc.rfb import Peer
from tests.support.vnc.vencrypt import X509_NONE, X509_PLAIN, agree, breaking_off
from universe_client.errors import AuthError, ConnectError
from vnc.errors import AuthError as Untrusted
from vnc.errors import ConnectError as Closed
from vnc.tls import TLS

PASSWORD = "pass wor"
HANDSHAKE_RECORD, ALERT_RECORD, APPLICATION_RECORD, CIPHER_RECORD = 22, 21, 23, 20


@pytest.mark.fault("F35", "VeNCrypt: bad cert, wrong host; TLS closed mid-handshake")
@pytest.mark.parametrize(
    ("host", "days"), [("elsewhere", 30), ("127.0.0.1", 0)], ids=["another host", "expired"]
)
def test_f35_a_certificate_that_is_refused_is_tried_once(evil, open_env, authority, measure, host, days):
    shown = authority.identity(host, days=days)

    async def talk(peer: Peer) -> None:
        await agree(peer, X509_NONE)
        peer.write(b"\x01")
        with suppress(OSError):
            await peer.writer.start_tls(shown.context())
        await peer.idle()

    address, attempts = evil(talk)
    env = open_env(replace(address, vnc=replace(address.vnc, tls=TLS(ca_file=authority.certificate))))
    env.reset()
    error = until(env, failed)[-1].info["error"]
    assert "certificate is refused" in error
    assert type(env.remotes[0].error) is AuthError
    until(env, lambda step: step.info["env_status.reason"] == "closed")
    measure("attempts", len(attempts), equals=1)


@pytest.mark.fault("F35", "VeNCrypt: bad cert, wrong host; TLS closed mid-handshake")
def test_f35_a_connection_that_ends_in_tls_is_tried_again(evil, open_env, measure):
    async def talk(peer: Peer) -> None:
        await agree(peer, X509_NONE)
        peer.write(b"\x01")
        await breaking_off(b"")(peer)

    address, attempts = evil(talk)
    env = open_env(replace(address, vnc=replace(address.vnc, tls=TLS())), backoff=(0.3, 5.0))
    env.reset()
    for _ in range(2):
        until(env, failed)
        assert type(env.remotes[0].error) is ConnectError
    measure("attempts", len(attempts), at_least=2)
    assert one_step(env).info["env_status.reason"] != "closed"


@pytest.mark.fault("F35", "VeNCrypt: bad cert, wrong host; TLS closed mid-handshake")
@pytest.mark.parametrize(
    ("answer", "kind", "words"),
    [(b"", Closed, "closed"), (b"HTTP/1.1 400 Bad Request\r\n\r\n", Untrusted, "TLS failed: ")],
    ids=["nothing", "something else"],
)
async def test_f35_what_a_server_says_in_the_place_of_tls(opened, answer, kind, words):
    async def talk(peer: Peer) -> None:
        await agree(peer, X509_NONE)
        peer.write(b"\x01")
        await breaking_off(answer)(peer)

    error = await opened.refused_by(talk, tls=TLS())
    assert type(error) is kind
    assert words in str(error)


@pytest.mark.fault("F35", "VeNCrypt: bad cert, wrong host; TLS closed mid-handshake")
async def test_f35_nothing_follows_in_the_clear_when_tls_is_not_trusted(opened, identity, measure):
    """After VeNCrypt the client sends TLS records only, and none contains a login."""
    heard = b""

    async def tap(peer: Peer, port: int) -> None:
        nonlocal heard
        await agree(peer, X509_PLAIN)
        peer.write(b"\x01")
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        back = asyncio.create_task(copy(reader, peer.write))
        while data := await peer.reader.read(4096):
            heard += data
            writer.write(data)
        writer.close()
        await back

    async def copy(reader: asyncio.StreamReader, write: Callable[[bytes], None]) -> None:
        while data := await reader.read(4096):
            write(data)

    server = await asyncio.start_server(lambda *_: None, "127.0.0.1", 0, ssl=identity.context())
    port = server.sockets[0].getsockname()[1]
    error = await opened.refused_by(lambda peer: tap(peer, port), PASSWORD, username="u", tls=TLS())
    server.close()
    assert type(error) is Untrusted
    assert "certificate is refused" in str(error)
    kinds = []
    while heard:
        kind, _, length = struct.unpack_from(">BHH", heard)
        kinds.append(kind)
        heard = heard[5 + length :]
    assert kinds[0] == HANDSHAKE_RECORD
    # In TLS 1.3 what ends a handshake is encrypted: one alert, and a login would be one more.
    assert kinds.count(APPLICATION_RECORD) <= 1
    known = {HANDSHAKE_RECORD, ALERT_RECORD, APPLICATION_RECORD, CIPHER_RECORD}
    measure("records that are not TLS", sum(kind not in known for kind in kinds), equals=0)
