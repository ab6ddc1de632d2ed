"""The Python parsers of data from peers, files and command lines. Each function accepts any bytes.

INVARIANT: a parser raises the errors that its documentation names, and no others.
"""

from __future__ import annotations

import asyncio
import os
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from urllib.parse import unquote

from rewarder.errors import ProtocolError as RewarderProtocolError
from rewarder.protocol.buffer import RewardBuffer
from rewarder.protocol.codec import MAX_FRAME, decode, encode
from rewarder.protocol.messages import Message, ReplyError, Reset
from rewarder.protocol.sessions import (
    CallRequest,
    ClientSession,
    Request,
    ResetRequest,
    ServerSession,
    StepRequest,
)
from universe_client.errors import ConfigError
from universe_client.providers.address import parse
from vnc.capture.capture import CaptureError, read_capture
from vnc.capture.scan import Scanner
from vnc.client.handshake import handshake
from vnc.errors import AuthError, ProtocolError, VNCError
from vnc.events import Event, KeyEvent, PointerEvent
from vnc.pixels.pixel_format import RGBX
from vnc.server.gate import Gate
from vnc.server.input import MAX_HELD, ClientInput
from vnc.server.protocol import BeginTLS, ServerProtocol
from vnc.session import Limits, VNCAddress
from vnc.vncauth import Passwords

WIDTH, HEIGHT = 64, 48
SMALL = Limits(framebuffer_width=256, framebuffer_height=256, text=1 << 10, cut_text=1 << 12)


def messages(data: bytes) -> None:
    """Parse one message of the rewarder protocol, and write it again, unless it is too large."""
    for frame in (data, data.decode(errors="replace")):
        with suppress(RewarderProtocolError):
            envelope = decode(frame)
            assert envelope.size <= MAX_FRAME
            hash(envelope.headers)
            if isinstance(envelope.message, Message):
                with suppress(ValueError):
                    encode(envelope.headers, envelope.message)


def rewarder_client(data: bytes) -> None:
    """Run the agent's end of a rewarder connection. Each line is a message; an empty line lets the agent act."""
    buffer = RewardBuffer()
    session = ClientSession(buffer)
    session.reset(Reset("fuzz"), 0.0)
    session.ping(0.0, 0.0)
    with suppress(RewarderProtocolError):
        for now, line in enumerate(data.decode(errors="replace").split("\n")):
            if line:
                session.receive(line, float(now), float(now))
            else:
                buffer.pop()
    buffer.disconnected()
    popped = buffer.pop()
    assert popped.reward - popped.reward == 0, "the sum of finite rewards is finite"
    assert not (popped.terminated and popped.truncated)
    session.data_to_send()


def rewarder_server(data: bytes) -> None:
    """Run the remote's end. The first byte selects whether the client is an observer; the other lines are messages."""
    session = ServerSession(1, observer=data[:1] == b"o")
    with suppress(RewarderProtocolError):
        for line in data[1:].decode(errors="replace").split("\n"):
            request = session.receive(line, 0.0, 0.0)
            assert request is None or not session.observer
            if isinstance(request, (ResetRequest, StepRequest, CallRequest)):
                _answer(session, request)
    for frame in session.data_to_send():
        decode(frame)


def _answer(session: ServerSession, request: Request) -> None:
    session.reply(request, ReplyError("no"), 0.0, 0.0)


def addresses(data: bytes) -> None:
    """Parse a `vnc://` address. An address with a path to a file is skipped: it would open that file."""
    text = data.decode(errors="surrogateescape")
    if "/" in unquote(text.partition("://")[2]):
        return
    with suppress(ConfigError), warnings.catch_warnings(action="ignore"):
        for remote in parse(text):
            assert 0 < remote.vnc.port < 65536
            assert (
                remote.vnc.password is None
                or remote.vnc.password not in repr(remote)
                or (len(remote.vnc.password) < 8)
            )


def vnc_server(data: bytes) -> None:
    """Serve a client of our VNC server. Bits of the first byte select password, TLS, refusal and the size of pieces."""
    head, rest = data[0] if data else 0, data[1:]
    passwords = Passwords("password", "watching") if head & 1 else Passwords()
    protocol = ServerProtocol(WIDTH, HEIGHT, "fuzz", passwords, tls=bool(head & 2), refuse=bool(head & 4))
    hand = ClientInput(WIDTH, HEIGHT)
    with suppress(ProtocolError, AuthError):
        for part in _pieces(rest, 1 + (head >> 3)):
            messages = protocol.receive(part)
            protocol.data_to_send()
            events: list[Event] = [
                message for message in messages if isinstance(message, (KeyEvent, PointerEvent))
            ]
            for event in hand.accept(events):
                assert isinstance(event, KeyEvent) or (event.x < WIDTH and event.y < HEIGHT)
            if any(isinstance(message, BeginTLS) for message in messages):
                protocol.secured()
    assert len(hand.release()) <= MAX_HELD + 1


def viewer_gate(data: bytes) -> None:
    """Pass a viewer's bytes to the gate in front of a VNC server. The first byte selects whether the viewer may act."""
    gate = Gate(acting=data[:1] == b"a")
    with suppress(ProtocolError):
        for part in _pieces(data[1:], 7):
            assert len(gate.receive(part)) <= len(data)
            gate.data_to_send()


def captures(data: bytes) -> None:
    """Read the whole records of a capture file, and scan their messages like a recorder."""
    descriptor = _FILE.fileno()
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, data, 0)
    with suppress(CaptureError):
        capture = read_capture(Path(f"/proc/self/fd/{descriptor}"))
        assert capture.seconds >= 0
        assert sum(len(message.data) for message in capture.messages) <= len(data)
        scanner = Scanner(WIDTH, HEIGHT, capture.pixel_format, SMALL)
        with suppress(ProtocolError):
            for message in capture.messages:
                scanner.receive(message.data)


def recorder(data: bytes) -> None:
    """Pass a server's bytes to a recorder. The first byte determines the size of the pieces."""
    scanner = Scanner(WIDTH, HEIGHT, RGBX, SMALL)
    with suppress(ProtocolError):
        for part in _pieces(data[1:], 1 + data[0] if data else 1):
            for message in scanner.receive(part):
                assert len(message.data) <= len(data)


def portable_handshake(data: bytes) -> None:
    """Run the portable driver's handshake. The first bit of the first byte selects a password."""
    password = "password" if data[:1] > b"\x7f" else None
    with suppress(VNCError, EOFError):
        asyncio.run(_shake_hands(data[1:], password))


async def _shake_hands(data: bytes, password: str | None) -> None:
    reader = asyncio.StreamReader()
    reader.feed_data(data)
    reader.feed_eof()
    protocol, loop = asyncio.StreamReaderProtocol(reader), asyncio.get_running_loop()
    writer = asyncio.StreamWriter(_Sink(), protocol, reader, loop)
    try:
        init = await handshake(reader, writer, VNCAddress("127.0.0.1", 5900, password), SMALL)
    finally:
        writer.close()
    assert 0 < init.width <= SMALL.framebuffer_width
    assert 0 < init.height <= SMALL.framebuffer_height
    assert len(init.name) <= SMALL.text


class _Sink(asyncio.Transport):
    """A writer that drops the client's answers."""

    _closed = False

    def write(self, data: object) -> None:
        """Drop it."""

    def is_closing(self) -> bool:
        """Whether `close` was called."""
        return self._closed

    def close(self) -> None:
        """Close the writer."""
        self._closed = True


def _pieces(data: bytes, size: int) -> list[bytes]:
    return [data[start : start + size] for start in range(0, len(data), size)]


_FILE = open(os.memfd_create("capture"), "r+b")  # noqa: SIM115  (for as long as this process runs)

PARSERS: dict[str, Callable[[bytes], None]] = {
    "addresses": addresses,
    "captures": captures,
    "messages": messages,
    "portable-handshake": portable_handshake,
    "recorder": recorder,
    "rewarder-client": rewarder_client,
    "rewarder-server": rewarder_server,
    "viewer-gate": viewer_gate,
    "vnc-server": vnc_server,
}
