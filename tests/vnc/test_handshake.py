"""The client's handshake against servers that say what the test wants (RFC 6143 section 7.1 to 7.3)."""

from __future__ import annotations

import asyncio
import struct

import pytest

from tests.support.rfb import VERSIONS
from vnc.errors import AuthError, LimitExceeded, ProtocolError, TooManyFailures, VNCError
from vnc.handshake import ServerInit, handshake, printable
from vnc.session import Limits
from vnc.vncauth import challenge_response

FORMAT = bytes(16)
INIT = struct.pack(">HH", 640, 480) + FORMAT + struct.pack(">I", 4) + b"desk"
CHALLENGE = bytes(range(16))


class Sink:
    """Keeps what the client says."""

    def __init__(self) -> None:
        self.data = b""

    def write(self, data: bytes) -> None:
        self.data += data


async def shake(
    script: bytes, password: str | None = None, limits: Limits | None = None
) -> tuple[ServerInit, bytes]:
    """Play a server's bytes to the client; return what it made of them and what it said."""
    reader, sink = asyncio.StreamReader(), Sink()
    reader.feed_data(script)
    reader.feed_eof()
    init = await handshake(reader, sink, password, limits or Limits())  # type: ignore[arg-type]
    assert not await reader.read(), "bytes of the next message were taken"
    return init, sink.data


def text(words: str) -> bytes:
    return struct.pack(">I", len(words)) + words.encode()


NO_AUTH = {
    b"003": struct.pack(">I", 1),
    b"007": b"\x01\x01",
    b"008": b"\x01\x01" + bytes(4),
}


@pytest.mark.parametrize(("offered", "answered"), VERSIONS)
async def test_version_is_the_highest_both_speak(offered, answered):
    """F14."""
    init, said = await shake(b"RFB " + offered + b"\n" + NO_AUTH[answered] + INIT)
    assert init == ServerInit(640, 480, "desk")
    chosen = b"" if answered == b"003" else b"\x01"
    assert said == b"RFB 003." + answered + b"\n" + chosen + b"\x01", "and the connection is shared"


@pytest.mark.parametrize("offered", [b"002.000", b"003.002", b"000.000"])
async def test_version_older_than_3_3_is_refused(offered):
    with pytest.raises(ProtocolError, match=r"older than 3\.3"):
        await shake(b"RFB " + offered + b"\n")


@pytest.mark.parametrize(
    "banner",
    [b"HTTP/1.1 400 Bad Request\r\n\r\n", b"SSH-2.0-OpenSSH_9\r\n", b"\x16\x03\x03\x00\x02\x02\x28" * 2],
)
async def test_another_protocols_banner_is_not_an_rfb_server(banner):
    """F12."""
    with pytest.raises(ProtocolError, match="not an RFB server"):
        await shake(banner)


@pytest.mark.parametrize("minor", [b"003", b"007", b"008"])
async def test_password_answers_the_challenge(minor):
    security = struct.pack(">I", 2) if minor == b"003" else b"\x02\x01\x02"
    _, said = await shake(b"RFB 003." + minor + b"\n" + security + CHALLENGE + bytes(4) + INIT, "secret")
    chosen = b"" if minor == b"003" else b"\x02"
    assert said == b"RFB 003." + minor + b"\n" + chosen + challenge_response(CHALLENGE, "secret") + b"\x01"


@pytest.mark.parametrize("script", [b"RFB 003.003\n" + struct.pack(">I", 1), b"RFB 003.008\n\x01\x01"])
async def test_none_is_refused_when_a_password_is_configured(script):
    """F14: no downgrade."""
    with pytest.raises(AuthError, match="a password is configured, but the server asks for none"):
        await shake(script, "secret")


async def test_a_server_that_wants_a_password_we_have_not():
    with pytest.raises(AuthError, match="asks for a password and none is configured"):
        await shake(b"RFB 003.008\n\x01\x02")


async def test_unknown_security_types_are_named():
    with pytest.raises(AuthError, match="types 19, 30"):
        await shake(b"RFB 003.008\n\x02\x1e\x13")


@pytest.mark.parametrize(
    ("script", "kind", "words"),
    [
        (b"RFB 003.008\n\x00" + text("go away"), AuthError, "go away"),
        (b"RFB 003.003\n" + bytes(4) + text("Too many security failures"), TooManyFailures, "Too many"),
        (b"RFB 003.008\n\x00" + text("Too many authentication failures"), TooManyFailures, "Too many"),
        (b"RFB 003.008\n\x01\x02" + CHALLENGE + b"\0\0\0\1" + text("wrong"), AuthError, "wrong"),
        (b"RFB 003.007\n\x01\x02" + CHALLENGE + b"\0\0\0\1", AuthError, "security result 1"),
        (b"RFB 003.003\n\0\0\0\2" + CHALLENGE + b"\0\0\0\2", AuthError, "security result 2"),
    ],
)
async def test_refusals_carry_the_servers_words(script, kind, words):
    """F16, F17."""
    with pytest.raises(AuthError, match=words) as caught:
        await shake(script, None if b"\x02" not in script[12:20] else "x")
    assert type(caught.value) is kind


HUGE = struct.pack(">I", 0xFFFFFFFF)


@pytest.mark.parametrize(
    ("script", "kind", "words"),
    [
        (b"RFB 003.008\n\x00" + HUGE, LimitExceeded, "failure reason of 4294967295 bytes"),
        (INIT[:20] + HUGE, LimitExceeded, "desktop name of 4294967295 bytes"),
        (INIT[:20] + struct.pack(">I", 0x80000000), LimitExceeded, "desktop name"),
        (struct.pack(">HH", 65535, 1) + FORMAT, LimitExceeded, "65535x1, the limit is 4096x4096"),
        (struct.pack(">HH", 4097, 4096) + FORMAT, LimitExceeded, "4097x4096"),
        (struct.pack(">HH", 0, 480) + FORMAT, ProtocolError, "0x480"),
        (struct.pack(">HH", 640, 0) + FORMAT, ProtocolError, "640x0"),
    ],
)
async def test_hostile_lengths_are_refused_before_anything_is_read(script, kind, words):
    """F15: the bytes announced never come, so a client that waited for them would see the end instead."""
    if not script.startswith(b"RFB"):
        script = b"RFB 003.008\n" + NO_AUTH[b"008"] + script
    with pytest.raises(ProtocolError, match=words) as caught:
        await shake(script)
    assert type(caught.value) is kind


@pytest.mark.parametrize("cut", range(len(b"RFB 003.008\n" + NO_AUTH[b"008"] + INIT)))
async def test_a_server_that_stops_anywhere_is_an_end_of_file(cut):
    script = b"RFB 003.008\n" + NO_AUTH[b"008"] + INIT
    with pytest.raises((EOFError, VNCError)):
        await shake(script[:cut])


async def test_hostile_text_loses_its_control_characters():
    name = b"\x1b]0;owned\x07 \xff \xe2\x80\xae caf\xc3\xa9"
    script = INIT[:20] + struct.pack(">I", len(name)) + name
    init, _ = await shake(b"RFB 003.008\n" + NO_AUTH[b"008"] + script)
    assert init.name.isprintable()
    assert init.name.endswith("café")
    assert printable(b"plain words") == "plain words"
