"""Opening a session, on every driver: versions, security types, deadlines and error messages."""

from __future__ import annotations

import asyncio
import re
import socket
import struct
import time
from dataclasses import replace

import pytest

from tests.chaos.gauges import Gauges
from tests.support.vnc.rfb import HEIGHT, PIXEL_FORMAT, QUICK, VERSIONS, WIDTH, Peer, listening, raw
from tests.support.vnc.sessions import taken
from vnc.errors import AuthError, ConnectError, LimitExceeded, ProtocolError, TooManyFailures, VNCError
from vnc.server.server import VNCServer
from vnc.session import Limits, Timeouts
from vnc.vncauth import challenge_response

CHALLENGE = bytes(range(16))
NO_AUTH = b"\x01\x01" + bytes(4)
INIT = struct.pack(">HH", WIDTH, HEIGHT) + PIXEL_FORMAT + struct.pack(">I", 4) + b"desk"
AUTH = b"RFB 003.008\n\x01\x02" + CHALLENGE
LOCKED = "Too many security failures"
HUGE = struct.pack(">I", 0xFFFFFFFF)


def says(script: bytes):
    """Return a `talk` that sends all data at once, and keeps the connection open."""

    async def talk(peer: Peer) -> None:
        peer.write(script)
        await peer.idle()

    return talk


def said(error: VNCError) -> str:
    """Return an error's message without the server's name."""
    return str(error).partition(": ")[2]


def text(words: str) -> bytes:
    return struct.pack(">I", len(words)) + words.encode()


# -- versions and security types


@pytest.mark.fault("F14", "protocol downgrade")
@pytest.mark.parametrize(("offered", "answered"), VERSIONS)
@pytest.mark.parametrize("password", [None, "secret"], ids=["None", "VncAuth"])
async def test_a_session_comes_about_in_the_highest_version_both_speak(
    opened, measure, offered, answered, password
):
    """F14, F18: byte by byte, and always as a shared client."""
    security = 1 if password is None else 2

    async def talk(peer: Peer) -> None:
        assert await peer.greet(b"RFB " + offered + b"\n") == b"RFB 003." + answered + b"\n"
        if answered == b"003":
            peer.write(struct.pack(">I", security))
        else:
            peer.write(bytes([2, security, 99]))
            assert await peer.read(1) == bytes([security])
        if password is not None:
            peer.write(CHALLENGE)
            assert await peer.read(16) == challenge_response(CHALLENGE, password)
        if password is not None or answered == b"008":
            peer.write(bytes(4))
        await peer.init(name=b"desk")
        assert peer.shared == 1
        await peer.idle()

    async with listening(talk) as port, opened.on(port, password) as (session, _):
        assert session.name == "desk"
        assert session.shape == (HEIGHT, WIDTH, 3)
        measure(f"sessions in 3.{int(answered)} with {offered.decode()}", session.error is None, equals=True)


@pytest.mark.fault("F14", "protocol downgrade")
@pytest.mark.parametrize("offered", [b"002.000", b"003.002", b"000.000"])
async def test_a_version_older_than_3_3_is_refused(opened, offered):
    error = await opened.refused_by(says(b"RFB " + offered + b"\n"))
    assert type(error) is ProtocolError
    assert re.search(r": RFB \d\.\d is older than 3\.3$", str(error))


@pytest.mark.fault("F12", "garbage first bytes; HTTP or TLS banner on the VNC port")
@pytest.mark.parametrize(
    "banner",
    [b"HTTP/1.1 400 Bad Request\r\n\r\n", b"SSH-2.0-OpenSSH_9\r\n", b"\x16\x03\x03\x00\x02\x02\x28" * 2],
    ids=["HTTP", "SSH", "TLS"],
)
async def test_another_protocols_banner_is_not_an_rfb_server(opened, banner):
    """F12."""
    error = await opened.refused_by(says(banner))
    assert type(error) is ProtocolError
    assert ': not an RFB server, it sent "' in str(error)


@pytest.mark.fault("F14", "protocol downgrade")
@pytest.mark.parametrize(
    ("script", "password", "words", "types"),
    [
        (
            b"RFB 003.003\n\0\0\0\1", "secret",
            "a password is configured, but the server asks for none", "security type 1 (None)",
        ),
        (
            b"RFB 003.008\n\x01\x01", "secret",
            "a password is configured, but the server asks for none", "security type 1 (None)",
        ),
        (
            b"RFB 003.003\n\0\0\0\2", None,
            "the server asks for a password, and none is configured", "security type 2 (VNC authentication)",
        ),
        (
            b"RFB 003.008\n\x01\x02", None,
            "the server asks for a password, and none is configured", "security type 2 (VNC authentication)",
        ),
        (
            b"RFB 003.008\n\x02\x1e\x13", None,
            "the server asks for TLS, and none is configured", "security types 30 (Apple), 19 (VeNCrypt)",
        ),
        (
            b"RFB 003.008\n\x02\x1e\x13", "secret",
            "the server asks for TLS, and none is configured", "security types 30 (Apple), 19 (VeNCrypt)",
        ),
        (
            b"RFB 003.008\n\x01\x1e", None,
            "the server asks for a security type that is not supported", "security type 30 (Apple)",
        ),
        (
            b"RFB 003.003\n\0\1\0\1", None,
            "the server asks for a security type that is not supported", "security type 65537 (unknown)",
        ),
    ],
)  # fmt: skip
async def test_what_our_policy_refuses_is_an_auth_error(opened, script, password, words, types):
    """F14: no downgrade."""
    error = await opened.refused_by(says(script), password)
    assert type(error) is AuthError
    assert said(error) == f"{words}; it offers {types}"


@pytest.mark.fault("F17", "blacklist")
@pytest.mark.parametrize(
    ("script", "password", "kind", "words"),
    [
        (b"RFB 003.008\n\x00" + text("go away"), None, ConnectError, "the server refused the connection: go away"),
        (b"RFB 003.003\n" + bytes(4) + text("no"), None, ConnectError, "the server refused the connection: no"),
        (b"RFB 003.003\n" + bytes(4) + text(LOCKED), None, TooManyFailures, f"locked out for a while: {LOCKED}"),
        (b"RFB 003.008\n\x00" + text(LOCKED), None, TooManyFailures, f"locked out for a while: {LOCKED}"),
        (AUTH + b"\0\0\0\1" + text(LOCKED), "x", TooManyFailures, f"locked out for a while: {LOCKED}"),
        (AUTH + b"\0\0\0\1" + text("wr\x1bong"), "x", AuthError, "authentication failed: wr\ufffdong"),
        (AUTH + b"\0\0\0\1" + text(""), "x", AuthError, "authentication failed: no reason given"),
        (b"RFB 003.008\n\x00" + text(""), None, ConnectError, "the server refused the connection: no reason given"),
        (AUTH + b"\0\0\0\1\0\0\0\2\xe9\x07", "x", AuthError, "authentication failed: é\ufffd"),
        (AUTH.replace(b"8", b"7") + b"\0\0\0\1", "x", AuthError, "authentication failed: no reason given"),
        (b"RFB 003.003\n\0\0\0\2" + CHALLENGE + b"\0\0\0\1", "x", AuthError, "authentication failed: no reason given"),
        (
            b"RFB 003.003\n\0\0\0\2" + CHALLENGE + b"\0\0\0\2",
            "x", TooManyFailures, "locked out for a while: too many attempts",
        ),
    ],
)  # fmt: skip
async def test_a_refusal_carries_the_servers_words(opened, script, password, kind, words):
    """F16, F17."""
    error = await opened.refused_by(says(script), password)
    assert type(error) is kind
    assert said(error) == words


@pytest.mark.fault("F17", "blacklist")
@pytest.mark.parametrize("reason", [b"", b"\0\0", text("wrong")[:-1]], ids=["none", "half a length", "cut"])
@pytest.mark.parametrize(
    ("script", "password", "kind", "words"),
    [
        (AUTH + b"\0\0\0\1", "x", AuthError, "authentication failed: no reason given"),
        (b"RFB 003.008\n\x00", None, ConnectError, "the server refused the connection: no reason given"),
    ],
)
async def test_a_refusal_without_its_reason_is_a_refusal(opened, script, password, kind, words, reason):
    """Some servers close the connection before they send a reason."""

    async def talk(peer: Peer) -> None:
        peer.write(script + reason)
        peer.writer.write_eof()
        await peer.idle()

    error = await opened.refused_by(talk, password, QUICK)
    assert type(error) is kind
    assert said(error) == words


@pytest.mark.fault("F17", "blacklist")
async def test_a_server_that_refuses_and_stays_has_refused(opened):
    error = await opened.refused_by(says(AUTH + b"\0\0\0\1"), "x", replace(QUICK, handshake=3.0))
    assert type(error) is AuthError
    assert said(error) == "authentication failed: no reason given"


@pytest.mark.fault("F16", "wrong password")
async def test_a_wrong_password_is_an_auth_error(opened, server):
    with pytest.raises(AuthError):
        async with opened.on(server.port, "wrong"):
            pass


@pytest.mark.fault("F14", "protocol downgrade")
async def test_our_server_without_password_is_refused_when_one_is_configured(opened):
    server = VNCServer(10, 10)
    await server.start()
    with pytest.raises(AuthError, match="a password is configured, but the server"):
        async with opened.on(server.port, "secret"):
            pass
    await server.close()


# -- hostile servers (F15): the announced bytes never arrive


@pytest.mark.fault("F15", "huge lengths")
@pytest.mark.parametrize(
    ("script", "kind", "words"),
    [
        (b"\x00" + HUGE, LimitExceeded, "reason text of 4294967295, the limit is 65536"),
        (NO_AUTH + INIT[:20] + HUGE, LimitExceeded, "desktop name of 4294967295, the limit is 65536"),
        (
            NO_AUTH + INIT[:20] + struct.pack(">I", 0x80000000),
            LimitExceeded, "desktop name of 2147483648, the limit is 65536",
        ),
        (
            NO_AUTH + struct.pack(">HH", 65535, 1) + PIXEL_FORMAT,
            LimitExceeded, "framebuffer width of 65535, the limit is 4096",
        ),
        (
            NO_AUTH + struct.pack(">HH", 1, 4097) + PIXEL_FORMAT,
            LimitExceeded, "framebuffer height of 4097, the limit is 4096",
        ),
        (NO_AUTH + struct.pack(">HH", 0, 480) + PIXEL_FORMAT, ProtocolError, "framebuffer of 0x480 pixels"),
        (NO_AUTH + struct.pack(">HH", 640, 0) + PIXEL_FORMAT, ProtocolError, "framebuffer of 640x0 pixels"),
    ],
)  # fmt: skip
async def test_hostile_lengths_are_refused_before_anything_is_read(opened, measure, script, kind, words):
    before = Gauges.read().memory
    error = await opened.refused_by(says(b"RFB 003.008\n" + script))
    measure("memory", (Gauges.read().memory - before) / 2**20, at_most=16, unit="MiB")
    assert type(error) is kind
    assert said(error) == words


async def test_a_smaller_limit_holds(opened):
    async def talk(peer: Peer) -> None:
        await peer.open(WIDTH, HEIGHT)
        await peer.idle()

    async with listening(talk) as port:
        with pytest.raises(LimitExceeded, match="limit is 7"):
            async with opened.on(port, limits=Limits(framebuffer_width=WIDTH - 1)):
                pass


# -- servers that do not exist, or disconnect


@pytest.mark.fault("F8", "connect refused / host black hole")
async def test_nobody_there_is_a_connect_error(opened):
    """F8."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
        with pytest.raises(ConnectError, match=f"127.0.0.1:{port}: .*refused"):
            async with opened.on(port):
                pass


async def test_a_silent_server_is_a_connect_error_at_the_deadline(opened):
    error = await opened.refused_by(Peer.idle, timeouts=Timeouts(handshake=0.2))
    assert type(error) is ConnectError
    assert "no end of the handshake within 0.2 s" in str(error)


@pytest.mark.fault("F9", "slow-loris handshake")
async def test_the_handshake_has_one_deadline_however_it_drips(opened):
    """F9: each byte is in time, and the last would come after a minute."""
    began = time.monotonic()
    error = await opened.refused_by(
        lambda peer: peer.drip(b"RFB 003.008\n", 5), timeouts=Timeouts(handshake=0.4)
    )
    assert type(error) is ConnectError
    assert "no end of the handshake within 0.4 s" in str(error)
    assert time.monotonic() - began > 0.35


async def test_a_server_that_hangs_up_in_the_handshake_is_a_connect_error(opened):
    error = await opened.refused_by(Peer.greet)
    assert type(error) is ConnectError
    assert "closed" in str(error)
    assert "during the handshake" in str(error)


async def test_a_server_that_leaves_anywhere_in_the_handshake_is_a_typed_error(opened):
    script = b"RFB 003.008\n" + NO_AUTH + INIT

    async def leave(peer: Peer, cut: int) -> None:
        peer.write(script[:cut])
        peer.writer.write_eof()
        await peer.idle()

    for cut in range(len(script)):
        error = await opened.refused_by(
            lambda peer, cut=cut: leave(peer, cut), timeouts=Timeouts(handshake=5.0)
        )
        assert type(error) is ConnectError, (cut, error)
        assert "within" not in str(error), (cut, error)


@pytest.mark.parametrize(
    "name",
    [b"\x1b]0;owned\x07 \xe2\x80\xae caf\xc3\xa9", b"\x1b[31m \xff \xe2\x80\xae cafe"],
    ids=["UTF-8", "not UTF-8"],
)
async def test_hostile_names_lose_their_control_characters(opened, name):
    async def talk(peer: Peer) -> None:
        await peer.open(name=name)
        await peer.idle()

    async with listening(talk) as port, opened.on(port) as (session, _):
        assert session.name.isprintable()
        assert session.name.endswith(("café", "cafe"))


async def test_the_servers_own_pixel_format_is_of_no_interest(opened):
    async def talk(peer: Peer) -> None:
        await peer.greet()
        peer.write(NO_AUTH + INIT[:4] + b"\xee" * 16 + INIT[20:])
        await peer.read(2)
        await peer.request()
        peer.update(raw(9))
        await peer.idle()

    async with listening(talk) as port, opened.on(port) as (session, changes):
        await changes.until(lambda: session.frames == 1)
        assert (taken(session) == 9).all()


async def test_connecting_can_be_given_up(opened):
    """After a cancelled wait for a session, no connection remains."""
    gone = asyncio.Event()

    async def talk(peer: Peer) -> None:
        peer.write(b"RFB")
        await peer.idle()
        gone.set()

    async with listening(talk) as port:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2), opened.on(port):
                pass
        await asyncio.wait_for(gone.wait(), 60)
