"""The client's handshake; refusals are in `tests/faults/vnc/test_connecting.py`."""

from __future__ import annotations

import asyncio
import struct

import pytest

from tests.support.vnc.rfb import VERSIONS
from vnc.client.handshake import ServerInit, handshake, printable
from vnc.errors import VNCError
from vnc.session import Limits, VNCAddress
from vnc.vncauth import challenge_response

FORMAT = bytes(16)
INIT = struct.pack(">HH", 640, 480) + FORMAT + struct.pack(">I", 4) + b"desk"
CHALLENGE = bytes(range(16))


class Sink:
    """Keeps what the client sends."""

    def __init__(self) -> None:
        self.data = b""

    def write(self, data: bytes) -> None:
        self.data += data


async def shake(
    script: bytes, password: str | None = None, limits: Limits | None = None
) -> tuple[ServerInit, bytes]:
    """Send a server's bytes to the client; return its result and what it sent."""
    reader, sink = asyncio.StreamReader(), Sink()
    reader.feed_data(script)
    reader.feed_eof()
    init = await handshake(reader, sink, VNCAddress("host", 5900, password), limits or Limits())  # type: ignore[arg-type]
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


@pytest.mark.parametrize("minor", [b"003", b"007", b"008"])
async def test_password_answers_the_challenge(minor):
    security = struct.pack(">I", 2) if minor == b"003" else b"\x02\x01\x02"
    _, said = await shake(b"RFB 003." + minor + b"\n" + security + CHALLENGE + bytes(4) + INIT, "secret")
    chosen = b"" if minor == b"003" else b"\x02"
    assert said == b"RFB 003." + minor + b"\n" + chosen + challenge_response(CHALLENGE, "secret") + b"\x01"


@pytest.mark.parametrize("cut", range(len(b"RFB 003.008\n" + NO_AUTH[b"008"] + INIT)))
async def test_a_server_that_stops_anywhere_is_an_end_of_file(cut):
    script = b"RFB 003.008\n" + NO_AUTH[b"008"] + INIT
    with pytest.raises((EOFError, VNCError)):
        await shake(script[:cut])


async def test_hostile_text_loses_its_control_characters():
    name = b"\x1b]0;owned\x07 \xe2\x80\xae caf\xc3\xa9"
    script = INIT[:20] + struct.pack(">I", len(name)) + name
    init, _ = await shake(b"RFB 003.008\n" + NO_AUTH[b"008"] + script)
    assert (
        init.name
        == "\N{REPLACEMENT CHARACTER}]0;owned\N{REPLACEMENT CHARACTER} \N{REPLACEMENT CHARACTER} café"
    )
    assert printable(b"caf\xe9\x07") == "café\N{REPLACEMENT CHARACTER}"
    assert printable(b"plain words") == "plain words"
