"""Sessions over TLS with scripted servers: each kind of login, and the interface of a session."""

from __future__ import annotations

import asyncio
import ssl
import struct

import pytest

from tests.support.vnc.rfb import Peer, listening
from tests.support.vnc.sessions import taken
from tests.support.vnc.vencrypt import ANONYMOUS, X509_NONE, X509_PLAIN, X509_VNC, honest, secured
from vnc.errors import AuthError, PeerLost, TooManyFailures
from vnc.events import KeyEvent
from vnc.session import Timeouts
from vnc.tls import TLS
from vnc.vncauth import challenge_response

PASSWORD = "pass wor"
CHALLENGE = bytes(range(16))


async def log_in_with_vnc(peer: Peer) -> None:
    peer.write(CHALLENGE)
    assert await peer.read(16) == challenge_response(CHALLENGE, PASSWORD)


async def log_in_with_name(peer: Peer) -> None:
    lengths = struct.unpack(">II", await peer.read(8))
    assert await peer.read(sum(lengths)) == "Zoë".encode() + "a long pässword".encode()


async def no_login(peer: Peer) -> None:
    pass


@pytest.mark.parametrize("kind", ["X509", "TLS"])
@pytest.mark.parametrize(
    ("login", "sub_type", "username", "password"),
    [
        (no_login, X509_NONE, None, None),
        (log_in_with_vnc, X509_VNC, None, PASSWORD),
        (log_in_with_name, X509_PLAIN, "Zoë", "a long pässword"),
    ],
)
async def test_each_login_works_in_tls(
    opened, authority, identity, kind, login, sub_type, username, password
):
    tls = TLS(ca_file=authority.certificate)
    context = identity.context()
    if kind == "TLS":
        tls, sub_type = TLS(insecure=True), sub_type - 3
        context.set_ciphers(ANONYMOUS)
        context.maximum_version = ssl.TLSVersion.TLSv1_2
    talk = honest(context, sub_type, login)
    async with (
        listening(talk) as port,
        opened.on(port, password, username=username, tls=tls) as (session, changes),
    ):
        await changes.until(lambda: session.frames == 1)
        assert (taken(session) == 7).all()


@pytest.mark.parametrize(
    ("words", "kind"), [("no such user", AuthError), ("Too many attempts", TooManyFailures)]
)
async def test_a_login_that_is_refused_carries_the_servers_words(opened, authority, identity, words, kind):
    async def talk(peer: Peer) -> None:
        await secured(peer, identity.context(), X509_PLAIN)
        await peer.read(10)
        peer.write(struct.pack(">II", 1, len(words)) + words.encode())
        await peer.idle()

    tls = TLS(ca_file=authority.certificate)
    error = await opened.refused_by(talk, "x", username="y", tls=tls)
    assert type(error) is kind
    assert words in str(error)


# -- a session's promises hold over TLS


async def test_input_is_written_and_a_server_that_leaves_is_lost(opened, authority, identity):
    async def pressed(peer: Peer) -> None:
        await honest(identity.context(), X509_NONE, no_login, until_pressed)(peer)

    async def until_pressed(peer: Peer) -> None:
        assert await peer.read(8) == b"\x04\x01\0\0\0\0\0a"

    tls = TLS(ca_file=authority.certificate)
    async with listening(pressed) as port, opened.on(port, tls=tls) as (session, changes):
        await changes.until(lambda: session.frames == 1)
        await asyncio.to_thread(session.send, [KeyEvent(ord("a"), True)])
        await changes.until(lambda: session.error is not None)
        assert type(session.error) is PeerLost
        assert "the server closed the connection" in str(session.error)
        assert (taken(session) == 7).all()


async def test_a_silent_server_is_asked_for_a_sign_of_life_and_lost_without(opened, authority, identity):
    timeouts = Timeouts(probe_interval=0.2, probe_deadline=0.3)
    async with listening(honest(identity.context(), X509_NONE, no_login)) as port:
        tls = TLS(ca_file=authority.certificate)
        async with opened.on(port, tls=tls, timeouts=timeouts) as (session, changes):
            await changes.until(lambda: session.error is not None)
            assert "no answer to a probe within 0.3 s" in str(session.error)


async def test_a_server_that_does_not_read_is_lost(opened, authority, identity):
    async def deaf(peer: Peer) -> None:
        peer.writer.transport.pause_reading()
        await asyncio.Event().wait()

    keys = [KeyEvent(ord("a"), True)] * 20_000
    talk = honest(identity.context(), X509_NONE, no_login, deaf)
    tls = TLS(ca_file=authority.certificate)
    async with listening(talk) as port, opened.on(port, tls=tls) as (session, changes):
        await changes.until(lambda: session.frames == 1)
        while session.error is None:
            session.send(keys)
            await asyncio.sleep(0)
        assert "the server does not read" in str(session.error)
