"""The server's side of one RFB connection without I/O: bytes in, messages and bytes out."""

from __future__ import annotations

import secrets
import struct
from collections.abc import Generator
from dataclasses import dataclass

from vnc import fences
from vnc.errors import AuthError, LimitExceeded, ProtocolError
from vnc.events import Event, KeyEvent, PointerEvent
from vnc.pixel_format import RGBX, PixelFormat
from vnc.security_types import NONE, VENCRYPT, VENCRYPT_VERSION, VNC_AUTH, X509_NONE, X509_VNC
from vnc.server.conversation import Conversation, Parser, drop, read_encodings
from vnc.server.damage import Rect
from vnc.vncauth import CHALLENGE_BYTES, Access, Passwords

MAX_CUT_TEXT = 2**31 - 1
"""Announced bytes of clipboard; above are the negative lengths of an extension we do not offer."""

AUTH_FAILED = "authentication failed"
REFUSED = "too many authentication failures, try again later"
TLS_REQUIRED = "TLS is required"

_NEVER = 1 << 62  # bytes: nothing more comes in the clear


@dataclass(frozen=True, slots=True)
class SetPixelFormat:
    """RFC 6143 section 7.5.1."""

    pixel_format: PixelFormat


@dataclass(frozen=True, slots=True)
class SetEncodings:
    """RFC 6143 section 7.5.2: in the client's order of preference."""

    encodings: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class UpdateRequest:
    """RFC 6143 section 7.5.3; `region` is as the client sent it."""

    incremental: bool
    region: Rect


@dataclass(frozen=True, slots=True)
class Fence:
    """rfbproto 7.4.8: an answer to every request of the client, in the order of its messages."""

    flags: int
    payload: bytes

    def encode(self) -> bytes:
        """Return the ServerFence message."""
        return fences.encode(self.flags, self.payload)


@dataclass(frozen=True, slots=True)
class Established:
    """The handshake is over."""

    access: Access


@dataclass(frozen=True, slots=True)
class BeginTLS:
    """The client agreed on TLS: not another byte in the clear, and then `ServerProtocol.secured`."""


Message = SetPixelFormat | SetEncodings | UpdateRequest | Fence | BeginTLS | Established | Event


class ServerProtocol(Conversation):
    """One connection: `receive` bytes, act on the messages it returns, send `data_to_send`."""

    def __init__(
        self,
        width: int,
        height: int,
        name: str,
        passwords: Passwords,
        *,
        refuse: bool = False,
        tls: bool = False,
    ) -> None:
        """Greet the client.

        Args:
            width: of the framebuffer.
            height: of the framebuffer.
            name: of the desktop.
            passwords: what a client may authenticate with.
            refuse: turn the client away, with the reason `REFUSED`, before it may try.
            tls: let nobody in without TLS, which is VeNCrypt's X509Vnc, or X509None where there are no passwords.
        """
        encoded = name.encode()
        self._server_init = struct.pack(">HH", width, height) + RGBX.encode() + _text(encoded)
        self._passwords = passwords
        self.refused = refuse
        self._tls = tls
        self._minor = 3
        self._messages: list[Message] = []
        super().__init__()

    def receive(self, data: bytes) -> list[Message]:
        """Return the messages completed by `data`.

        Raises:
            ProtocolError: the client broke RFB; `data_to_send` may have a last word.
            AuthError: it may not come in; `data_to_send` says so.

        After an error everything is ignored, what came in together with its cause included.
        """
        try:
            self._feed(data)
            # The list itself stays: a parser that waits for the rest of a message holds on to it.
            return self._messages.copy()
        finally:
            self._messages.clear()

    def secured(self) -> None:
        """Go on after `BeginTLS`: TLS stands.

        Raises:
            ProtocolError: the client said something in the clear that it wants taken for a part of what TLS protects.
        """
        if self._received:
            raise ProtocolError(f"{len(self._received)} bytes in the clear where TLS begins")
        self._wanted = self._parser.send(b"")

    def _parse(self) -> Parser:
        yield from self._handshake()
        while True:
            (kind,) = yield 1
            yield from self._message(kind)

    def _handshake(self) -> Parser:
        self._minor = _minor_version((yield 12))
        if self.refused:
            self._refuse_security(REFUSED)
        if self._minor >= 7:
            yield from self._choose_security()
        elif self._tls:
            self._out.append(struct.pack(">I", 0) + _text(TLS_REQUIRED.encode()))
            raise ProtocolError("client speaks rfb 3.3, which has no TLS")
        else:  # RFC 6143 appendix A: in 3.3 the server decides
            self._out.append(struct.pack(">I", self._security_type))
        if self._tls:
            yield from self._vencrypt()
        access = yield from self._authenticate()
        if self._passwords.required or self._minor >= 8:
            self._out.append(struct.pack(">I", 0))
        yield 1  # ClientInit's shared flag: here sessions always are
        self._out.append(self._server_init)
        self._messages.append(Established(access))

    def _vencrypt(self) -> Parser:
        """rfbproto, "VeNCrypt"."""
        self._out.append(VENCRYPT_VERSION)
        version = yield 2
        if version != VENCRYPT_VERSION:
            self._out.append(b"\xff")
            raise ProtocolError(f"client wants VeNCrypt {version[0]}.{version[1]}, offered was 0.2")
        offered = X509_VNC if self._passwords.required else X509_NONE
        self._out.append(
            struct.pack(">BBI", 0, 1, offered)
        )  # 1 version is agreed + 1 number-of-types + 4 type
        (chosen,) = struct.unpack(">I", (yield 4))
        if chosen != offered:
            self._out.append(b"\0")
            raise ProtocolError(f"client chose VeNCrypt sub-type {chosen}, offered was {offered}")
        self._out.append(b"\1")
        self._messages.append(BeginTLS())
        yield _NEVER

    @property
    def _security_type(self) -> int:
        if self._tls:
            return VENCRYPT
        return VNC_AUTH if self._passwords.required else NONE

    def _refuse_security(self, reason: str) -> None:
        none_offered = struct.pack(">B" if self._minor >= 7 else ">I", 0)
        self._out.append(none_offered + _text(reason.encode()))
        raise AuthError(reason)

    def _choose_security(self) -> Parser:
        self._out.append(bytes([1, self._security_type]))
        (chosen,) = yield 1
        if chosen != self._security_type:
            self._fail_security("security type not offered")
            raise ProtocolError(f"client chose security type {chosen}, offered was {self._security_type}")

    def _authenticate(self) -> Generator[int, bytes, Access]:
        if not self._passwords.required:
            return Access.FULL
        challenge = secrets.token_bytes(CHALLENGE_BYTES)
        self._out.append(challenge)
        response = yield CHALLENGE_BYTES
        access = self._passwords.check(challenge, response)
        if access is None:
            self._fail_security(AUTH_FAILED)
            raise AuthError(AUTH_FAILED)
        return access

    def _fail_security(self, reason: str) -> None:
        """RFC 6143 section 7.1.3: the reason came with 3.8."""
        self._out.append(struct.pack(">I", 1) + (_text(reason.encode()) if self._minor >= 8 else b""))

    def _message(self, kind: int) -> Parser:
        match kind:
            case 0:
                data = yield 19  # 3 padding + 16 pixel-format
                self._messages.append(SetPixelFormat(PixelFormat.parse(data[3:])))
            case 2:
                named = (yield from read_encodings())[3:]
                self._messages.append(SetEncodings(struct.unpack(f">{len(named) // 4}i", named)))
            case 3:
                # 1 incremental + 2 x + 2 y + 2 width + 2 height
                incremental, *region = struct.unpack(">BHHHH", (yield 9))
                self._messages.append(UpdateRequest(bool(incremental), Rect(*region)))
            case 4:
                down, keysym = struct.unpack(">BxxI", (yield 7))  # 1 down-flag + 2 padding + 4 key
                self._messages.append(KeyEvent(keysym, bool(down)))
            case 5:
                button_mask, x, y = struct.unpack(">BHH", (yield 5))  # 1 button-mask + 2 x + 2 y
                self._messages.append(PointerEvent(x, y, button_mask))
            case 6:
                yield from self._cut_text()
            case 248:
                yield from self._fence()
            case _:
                raise ProtocolError(f"unknown client message type {kind}")

    def _fence(self) -> Parser:
        flags, length = fences.HEAD.unpack((yield fences.HEAD.size))
        if length > fences.MAX_PAYLOAD:
            raise LimitExceeded(f"client sends a fence of {length} bytes, the limit is {fences.MAX_PAYLOAD}")
        payload = (yield length) if length else b""
        if flags & fences.REQUEST:
            # Messages are processed one after the other, so blocking before and after needs nothing.
            self._messages.append(Fence(flags & (fences.BLOCK_BEFORE | fences.BLOCK_AFTER), payload))

    def _cut_text(self) -> Parser:
        (length,) = struct.unpack(">3xI", (yield 7))  # 3 padding + 4 length
        if length > MAX_CUT_TEXT:
            raise LimitExceeded(f"client announces {length} bytes of clipboard, the limit is {MAX_CUT_TEXT}")
        yield from drop(length)


def _minor_version(line: bytes) -> int:
    """RFC 6143 section 7.1.1: 3.3, 3.7 and 3.8 are published; every other version means 3.3."""
    major, dot, minor = line[4:7], line[7:8], line[8:11]
    if line[:4] != b"RFB " or dot != b"." or line[11:] != b"\n" or not (major + minor).isdigit():
        raise ProtocolError(f"not an rfb version: {line!r}")
    return int(minor) if major == b"003" and minor in (b"007", b"008") else 3


def _text(encoded: bytes) -> bytes:
    return struct.pack(">I", len(encoded)) + encoded
