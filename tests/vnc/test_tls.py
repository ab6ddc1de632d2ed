"""VeNCrypt: sessions over TLS with TigerVNC's server and with scripted servers."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest

from tests.support.network.certificates import Authority
from tests.support.vnc.rfb import Peer
from tests.support.vnc.sessions import taken
from tests.support.vnc.vencrypt import X509_NONE, agree
from tests.support.vnc.xvnc import logo, secure_xvnc
from vnc.errors import AuthError, ConnectError, ProtocolError
from vnc.session import Timeouts, VNCAddress
from vnc.tls import TLS

PASSWORD = "pass wor"


# -- TigerVNC


@pytest.mark.parametrize(
    ("types", "password", "insecure"),
    [
        ("X509Vnc", PASSWORD, False),
        ("X509None", None, False),
        ("None,VncAuth,X509Vnc,X509None", PASSWORD, False),
        ("TLSVnc,X509Vnc", PASSWORD, True),
        ("TLSVnc", PASSWORD, True),
        ("TLSNone", None, True),
    ],
)
async def test_tigervnc_shows_the_same_picture_over_tls(
    opened, tmp_path, authority, identity, types, password, insecure
):
    tls = TLS(insecure=True) if insecure else TLS(ca_file=authority.certificate)
    async with (
        secure_xvnc(tmp_path, identity, types, password) as (port, display),
        logo(display),
        opened.on(port, password, tls=tls) as (session, changes),
        opened.on(port, password, tls=tls, encodings=(7, 16)) as (other, other_changes),
    ):
        await changes.until(lambda: len(set(taken(session).ravel())) > 1)
        wanted = session.refresh(), other.refresh()
        await changes.until(lambda: session.generation >= wanted[0])
        await other_changes.until(lambda: other.generation >= wanted[1])
        assert (taken(other) == taken(session)).all()


async def test_tigervncs_refusal_of_a_password_comes_through(opened, tmp_path, authority, identity):
    async with secure_xvnc(tmp_path, identity, "X509Vnc", PASSWORD) as (port, _):
        with pytest.raises(AuthError, match="authentication failed: Authentication fail"):
            async with opened.on(port, "wrong", tls=TLS(ca_file=authority.certificate)):
                pass


# -- who the server is


async def why_not(opened, port: int, tls: TLS, **options: object) -> str:
    """Return the AuthError of a failed connection."""
    with pytest.raises(AuthError) as caught:
        async with opened.on(port, tls=tls, **options):
            pass
    assert type(caught.value) is AuthError
    return str(caught.value)


async def test_a_certificate_must_be_of_a_trusted_authority(opened, tmp_path, authority, identity):
    (tmp_path / "other").mkdir()
    other = Authority(tmp_path / "other", "other")
    async with secure_xvnc(tmp_path, identity, "X509None") as (port, _):
        words = f"127.0.0.1:{port}: the server's certificate is refused: .*certificate"
        for tls in (TLS(), TLS(ca_file=other.certificate)):
            assert re.search(words, await why_not(opened, port, tls))


async def test_a_certificate_must_be_for_the_host_that_was_named(opened, tmp_path, authority):
    elsewhere = authority.identity("elsewhere.example", "localhost")
    trusting = TLS(ca_file=authority.certificate)
    async with secure_xvnc(tmp_path, elsewhere, "X509None") as (port, _):
        assert "'127.0.0.1'" in await why_not(opened, port, trusting)
        async with opened.on(port, tls=trusting, host="localhost") as (session, _):
            assert session.error is None


async def test_a_certificate_must_not_be_past_its_days(opened, tmp_path, authority):
    expired = authority.identity("127.0.0.1", days=0)
    async with secure_xvnc(tmp_path, expired, "X509None") as (port, _):
        assert "expired" in await why_not(opened, port, TLS(ca_file=authority.certificate))


async def test_a_pinned_certificate_is_enough_and_no_other_will_do(opened, tmp_path, authority):
    elsewhere = authority.identity("elsewhere.example")
    async with secure_xvnc(tmp_path, elsewhere, "X509None") as (port, _):
        async with opened.on(port, tls=TLS(fingerprint=elsewhere.fingerprint)) as (session, _):
            assert session.error is None
        words = await why_not(opened, port, TLS(fingerprint=bytes(32)))
        assert f"has the fingerprint {elsewhere.fingerprint.hex(':')}, which is not the pinned one" in words


async def test_any_certificate_will_do_where_that_is_said_and_each_time_it_is_logged(
    opened, tmp_path, authority, caplog
):
    elsewhere = authority.identity("elsewhere.example")
    async with secure_xvnc(tmp_path, elsewhere, "X509None") as (port, _):
        for _ in range(2):
            async with opened.on(port, tls=TLS(insecure=True)) as (session, _):
                assert session.error is None
    assert caplog.text.count("the identity of the server is not checked (insecure)") == 2


async def test_authorities_that_cannot_be_read_are_named(opened, tmp_path, identity):
    missing = tmp_path / "missing.pem"
    async with secure_xvnc(tmp_path, identity, "X509None") as (port, _):
        assert str(missing) in await why_not(opened, port, TLS(ca_file=missing))


# -- what our policy refuses (F14): no downgrade


@pytest.mark.parametrize(
    ("script", "words"),
    [
        (
            b"RFB 003.008\n\x02\x01\x02",
            r"TLS is configured, but the server does not offer it; .* 1 \(None\), 2 ",
        ),
        (b"RFB 003.003\n\0\0\0\x02", "TLS is configured, but the server does not offer it"),
        (b"RFB 003.008\n\x01\x13\x00\x01", r"VeNCrypt 0\.1 is older than 0\.2"),
        (b"RFB 003.008\n\x01\x13\x00\x02\xff", "aborted VeNCrypt with code 255"),
        (b"RFB 003.008\n\x01\x13\x00\x02\x00\x00", "X509Vnc is required, the server offers"),
        (b"RFB 003.008\n\x01\x13\x00\x02\x00\x01\0\0\x01\x00", "the server offers .*sub-type 256"),
        (b"RFB 003.008\n\x01\x13\x00\x02\x00\x01\0\0\x01\x02", "the server offers TLSVnc"),
        (b"RFB 003.008\n\x01\x13\x00\x02\x00\x01\0\0\x01\x04", "the server offers X509None"),
        (b"RFB 003.008\n\x01\x13\x00\x02\x00\x01\0\0\x01\x05\x00", "aborted VeNCrypt with code 0"),
    ],
)
async def test_less_than_what_is_configured_is_refused(opened, script, words):
    async def talk(peer: Peer) -> None:
        peer.write(script)
        await peer.idle()

    error = await opened.refused_by(talk, PASSWORD, tls=TLS())
    assert type(error) is AuthError
    assert re.search(words, str(error)), error


async def test_bytes_put_in_before_tls_are_refused(opened):
    async def talk(peer: Peer) -> None:
        await agree(peer, X509_NONE)
        peer.write(b"\x01" + bytes(4))
        await peer.idle()

    error = await opened.refused_by(talk, tls=TLS())
    assert type(error) is ProtocolError
    assert "bytes of plain text where TLS begins" in str(error)


async def test_a_server_that_is_silent_in_tls_meets_the_handshakes_deadline(opened):
    async def talk(peer: Peer) -> None:
        await agree(peer, X509_NONE)
        peer.write(b"\x01")
        await peer.idle()

    error = await opened.refused_by(talk, tls=TLS(), timeouts=Timeouts(handshake=0.3))
    assert type(error) is ConnectError
    assert "no end of the handshake within 0.3 s" in str(error)


async def test_a_server_that_hangs_up_before_tls_is_a_connect_error(opened):
    error = await opened.refused_by(Peer.greet, tls=TLS())
    assert type(error) is ConnectError
    assert "closed during the handshake" in str(error)


async def test_nobody_there_is_a_connect_error(opened):
    free = await asyncio.start_server(lambda *_: None, "127.0.0.1", 0)
    port = free.sockets[0].getsockname()[1]
    free.close()
    with pytest.raises(ConnectError, match=f"127.0.0.1:{port}: .*refused"):
        async with opened.on(port, tls=TLS()):
            pass


# -- addresses that make no sense


@pytest.mark.parametrize(
    "make",
    [
        lambda: VNCAddress("host", username="u"),
        lambda: TLS(insecure=True, fingerprint=bytes(32)),
        lambda: TLS(insecure=True, ca_file=Path("ca.pem")),
        lambda: TLS(fingerprint=bytes(20)),
    ],
)
def test_what_makes_no_sense_is_refused_at_once(make):
    with pytest.raises(ValueError, match=r"tls|exclude each other|20 bytes"):
        make()
