"""The server over TLS: our clients, TigerVNC's viewer, and hostile handshakes."""

from __future__ import annotations

import asyncio
import gc
import logging
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes

from tests.support.network.certificates import Authority, too_old
from tests.support.vnc import viewers
from tests.support.vnc.sessions import taken
from vnc.errors import AuthError, ProtocolError
from vnc.events import Event, KeyEvent
from vnc.pixels.pixel_format import RGBX
from vnc.server.protocol import TLS_REQUIRED, BeginTLS, Established, ServerProtocol
from vnc.server.server import ServerLimits, VNCServer
from vnc.session import Frame
from vnc.tls import TLS, Identity
from vnc.vncauth import Access, Passwords

WIDTH, HEIGHT, PASSWORD = 320, 240, "neon42"
BANNER = b"RFB 003.008\n"
X509_NONE, X509_VNC = struct.pack(">I", 260), struct.pack(">I", 261)
QUICK = ServerLimits(failure_delay=0.01)


def picture(seed: int) -> Frame:
    return np.random.default_rng(seed).integers(0, 256, (HEIGHT, WIDTH, 3), dtype=np.uint8)


Serve = Callable[..., Awaitable[VNCServer]]


@pytest.fixture
async def serve(identity: Identity) -> AsyncIterator[Serve]:
    """Start a server over TLS; close it after the test."""
    started: list[VNCServer] = []

    async def start(**options: object) -> VNCServer:
        server = VNCServer(WIDTH, HEIGHT, **({"password": PASSWORD, "limits": QUICK} | options))
        await server.start(tls=identity.context())
        server.present(picture(0))
        started.append(server)
        return server

    yield start
    for server in started:
        await server.close()


async def test_a_session_sees_every_pixel_and_its_keys_arrive(serve, opened, authority):
    events: list[Event] = []
    pressed = asyncio.Event()

    def note(batch: list[Event]) -> None:
        events.extend(batch)
        pressed.set()

    server = await serve(on_events=note)
    async with opened.on(server.port, PASSWORD, tls=TLS(ca_file=authority.certificate)) as (session, changes):
        for seed in range(5):
            server.present(picture(seed))
            await changes.until(lambda seed=seed: bool((taken(session) == picture(seed)).all()))
        session.send([KeyEvent(ord("a"), True)])
        async with asyncio.timeout(60):
            await pressed.wait()
    assert events[0] == KeyEvent(ord("a"), True)


async def test_without_passwords_it_is_tls_all_the_same(serve, opened, authority):
    server = await serve(password=None)
    async with opened.on(server.port, tls=TLS(ca_file=authority.certificate)) as (session, changes):
        await changes.until(lambda: bool((taken(session) == picture(0)).all()))


async def test_a_wrong_password_and_a_client_without_tls_are_refused(serve, opened, authority, caplog):
    caplog.set_level(logging.INFO)
    server = await serve()
    with pytest.raises(AuthError, match="authentication failed"):
        async with opened.on(server.port, "wrong", tls=TLS(ca_file=authority.certificate)):
            pass
    with pytest.raises(AuthError, match="the server asks for TLS, and none is configured"):
        async with opened.on(server.port, PASSWORD):
            pass
    assert server.clients == 0
    assert PASSWORD not in caplog.text and "wrong" not in caplog.text


async def test_who_may_only_watch_cannot_touch(serve, opened, authority):
    events: list[Event] = []
    server = await serve(view_only_password="watch", on_events=events.extend)
    tls = TLS(ca_file=authority.certificate)
    async with opened.on(server.port, "watch", tls=tls) as (session, changes):
        session.send([KeyEvent(ord("a"), True)])
        generation = session.refresh()
        await changes.until(lambda: session.generation >= generation)
    assert events == []


async def test_a_client_that_is_slow_to_read_ends_with_the_latest_frame(serve, opened, authority):
    """Bytes that the connection does not accept stop the updates; the last frame still arrives."""
    server = await serve()
    async with opened.on(server.port, PASSWORD, tls=TLS(ca_file=authority.certificate)) as (session, changes):
        for seed in range(60):
            server.present(picture(seed))
            if seed % 10 == 0:
                await changes.until(lambda: session.frames > 0)
        await changes.until(lambda: bool((taken(session) == picture(59)).all()))
        assert session.frames <= 61


async def test_tigervncs_viewer_shows_it(serve, authority, tmp_path: Path):
    server = await serve()
    passwd = viewers.password_file(tmp_path / "passwd", PASSWORD)
    trusting = ("-SecurityTypes", "X509Vnc", "-X509CA", str(authority.certificate))
    options = (*trusting, "-AutoSelect=0", "-NoJPEG=1", "-PreferredEncoding=ZRLE")
    async with viewers.xvfb() as display, viewers.vncviewer(server.port, passwd, display, *options):
        await display.until_shown(picture(0))


# -- strangers


async def upgraded(port: int, extra: bytes = b"") -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Return a client at the start of TLS that has sent `extra` before."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(BANNER + b"\x13\0\2" + X509_VNC + extra)
    assert await reader.readexactly(12 + 2 + 2 + 6 + 1) == BANNER + b"\1\x13\0\2\0\1" + X509_VNC + b"\1"
    return reader, writer


async def ended(reader: asyncio.StreamReader) -> None:
    async with asyncio.timeout(60):
        with suppress(ConnectionError):
            await reader.read()


async def test_what_is_put_in_before_tls_is_not_taken_for_what_tls_protects(serve, opened, authority, caplog):
    server = await serve()
    reader, writer = await upgraded(server.port, bytes(16) + b"\1")
    context = TLS(ca_file=authority.certificate).context()
    with suppress(OSError):
        await writer.start_tls(context, server_hostname="127.0.0.1")
    await ended(reader)
    assert "17 bytes of plain text where TLS begins" in caplog.text
    assert server.clients == 0
    writer.transport.abort()


@pytest.mark.parametrize("said", [b"", b"RFB 003.008\n" * 8, b"\x16\x03\x01\x02\x00" + bytes(512)])
async def test_a_client_that_breaks_tls_off_is_forgotten(serve, opened, authority, said, caplog):
    server = await serve()
    reader, writer = await upgraded(server.port)
    writer.write(said)
    writer.write_eof()
    await ended(reader)
    writer.transport.abort()
    async with opened.on(server.port, PASSWORD, tls=TLS(ca_file=authority.certificate)) as (session, changes):
        await changes.until(lambda: session.frames > 0)
        assert server.clients == 1
    assert "TLS failed: " in caplog.text


async def test_clients_that_vanish_as_tls_stands_are_forgotten(serve, opened, authority, caplog):
    server, tls = await serve(), TLS(ca_file=authority.certificate)
    for _ in range(10):
        _, writer = await upgraded(server.port)
        await writer.start_tls(tls.context(), server_hostname="127.0.0.1")
        writer.transport.abort()
    async with opened.on(server.port, PASSWORD, tls=tls) as (session, changes):
        await changes.until(lambda: session.frames > 0)
        assert server.clients == 1
    gc.collect()
    assert "exception was never retrieved" not in caplog.text


async def test_a_client_that_is_silent_in_tls_meets_the_deadline_of_the_handshake(serve, caplog):
    server = await serve(limits=ServerLimits(handshake=0.2))
    reader, writer = await upgraded(server.port)
    await ended(reader)
    assert "handshake took too long" in caplog.text
    writer.transport.abort()


async def test_the_server_closes_while_clients_are_in_tls(serve, opened, authority):
    server = await serve()
    reader, writer = await upgraded(server.port)
    async with opened.on(server.port, PASSWORD, tls=TLS(ca_file=authority.certificate)) as (session, changes):
        await changes.until(lambda: session.frames > 0)
        await server.close()
        await changes.until(lambda: session.error is not None)
    await ended(reader)
    writer.transport.abort()


async def test_tls_before_1_2_is_refused(serve, caplog):
    server = await serve()
    _, writer = await upgraded(server.port)
    with pytest.raises(OSError):
        await writer.start_tls(too_old(), server_hostname="127.0.0.1")
    assert "UNSUPPORTED_PROTOCOL" in caplog.text
    writer.transport.abort()


# -- the protocol without sockets


def protocol(password: str | None = PASSWORD) -> ServerProtocol:
    return ServerProtocol(32, 24, "test", Passwords(password, None), tls=True)


def test_tls_begins_once_and_nothing_is_parsed_before_it_stands():
    server = protocol(None)
    assert server.receive(BANNER + b"\x13\0\2" + X509_NONE) == [BeginTLS()]
    assert server.data_to_send() == BANNER + b"\1\x13\0\2\0\1" + X509_NONE + b"\1"
    server.secured()
    assert server.data_to_send() == bytes(4)
    assert server.receive(b"\1") == [Established(Access.FULL)]
    assert server.data_to_send().startswith(struct.pack(">HH", 32, 24) + RGBX.encode())


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (BANNER + b"\1", "security type 1, offered was 19"),
        (BANNER + b"\2", "security type 2, offered was 19"),
        (BANNER + b"\x13\0\1", "VeNCrypt 0.1, offered was 0.2"),
        (BANNER + b"\x13\0\2" + X509_NONE, "sub-type 260, offered was 261"),
        (BANNER + b"\x13\0\2\0\0\1\2", "sub-type 258, offered was 261"),
        (b"RFB 003.003\n", "has no TLS"),
    ],
)
def test_less_than_tls_is_refused(said, words):
    server = protocol()
    with pytest.raises(ProtocolError, match=words):
        server.receive(said)
    assert server.receive(bytes(100)) == []


def test_a_client_of_3_3_is_told_why():
    server = protocol()
    with pytest.raises(ProtocolError):
        server.receive(b"RFB 003.003\n")
    assert server.data_to_send().endswith(TLS_REQUIRED.encode())


# -- identities


def test_a_key_that_others_can_read_is_refused(identity: Identity):
    identity.key.chmod(0o640)
    with pytest.raises(ValueError, match=f"chmod 600 {identity.key}"):
        identity.context()


def test_files_that_are_no_identity_are_named(identity: Identity, authority: Authority, tmp_path: Path):
    missing, other = tmp_path / "missing.pem", authority.identity("other")
    for certificate, key in ((missing, identity.key), (identity.certificate, missing)):
        with pytest.raises(ValueError, match=str(missing)):
            Identity(certificate, key).context()
    with pytest.raises(ValueError, match=r"(?i)key values mismatch"):
        Identity(identity.certificate, other.key).context()


def test_the_fingerprint_is_that_of_the_first_certificate_of_a_chain(
    identity: Identity, authority: Authority
):
    chain = identity.certificate.with_name("chain.pem")
    chain.write_text(f"words\n{identity.certificate.read_text()}{authority.certificate.read_text()}")
    first = x509.load_pem_x509_certificate(identity.certificate.read_bytes())
    assert Identity(chain, identity.key).fingerprint == first.fingerprint(hashes.SHA256())
