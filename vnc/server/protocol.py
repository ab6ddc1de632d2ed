"""The server side of one RFB connection without I/O: it turns bytes into messages, and into bytes to send."""

from __future__ import annotations

import secrets
import struct
from collections.abc import Generator
from dataclasses import dataclass

from vnc import fences
from vnc.encodings import EXTENDED_MOUSE_BUTTONS
from vnc.errors import AuthError, LimitExceeded, ProtocolError
from vnc.events import MOST_BUTTONS, Event, KeyEvent, PointerEvent
from vnc.pixels.pixel_format import RGBX, PixelFormat
from vnc.security_types import NONE, VENCRYPT, VENCRYPT_VERSION, VNC_AUTH, X509_NONE, X509_VNC
from vnc.server.conversation import Conversation, Parser, drop, read_encodings
from vnc.server.framebuffer.damage import Rect
from vnc.vncauth import CHALLENGE_BYTES, Access, Passwords

MAX_CUT_TEXT = 2**31 - 1
"""Bytes of clipboard text. Greater numbers are negative lengths, of the extended clipboard."""

AUTH_FAILED = "authentication failed"
REFUSED = "too many authentication failures, try again later"
TLS_REQUIRED = "TLS is required"

_USUAL, _USUAL_BYTES = 16, 32  # how many pieces of data are remembered with their messages, and their length

_NEVER = 1 << 62  # bytes: the parser accepts no more plain text


@dataclass(frozen=True, slots=True)
class SetPixelFormat:
    """The client sets its pixel format (RFC 6143 section 7.5.1)."""

    pixel_format: PixelFormat


@dataclass(frozen=True, slots=True)
class SetEncodings:
    """The client's encodings, in its order of preference (RFC 6143 section 7.5.2)."""

    encodings: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class UpdateRequest:
    """FramebufferUpdateRequest (RFC 6143 section 7.5.3); `region` may reach beyond the screen."""

    incremental: bool
    region: Rect


@dataclass(frozen=True, slots=True)
class Fence:
    """The answer to a fence of the client (rfbproto 7.4.8), to be sent in the order of its messages."""

    flags: int
    payload: bytes

    def encode(self) -> bytes:
        """Return the ServerFence message."""
        return fences.encode(self.flags, self.payload)


@dataclass(frozen=True, slots=True)
class Established:
    """The handshake is complete."""

    access: Access


@dataclass(frozen=True, slots=True)
class BeginTLS:
    """The client agreed on TLS: start it, then call `ServerProtocol.secured`."""


@dataclass(frozen=True, slots=True)
class SharedReady:
    """The client has mapped the shared frames (docs/shared-frames.md)."""


@dataclass(frozen=True, slots=True)
class SharedRelease:
    """The client does not need buffer `number` of the shared frames any more."""

    number: int


Message = (
    SetPixelFormat
    | SetEncodings
    | UpdateRequest
    | Fence
    | SharedReady
    | SharedRelease
    | BeginTLS
    | Established
    | Event
)


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
        """Prepare the version message; `data_to_send` returns it.

        Args:
            width: width of the framebuffer in pixels.
            height: height of the framebuffer in pixels.
            name: desktop name.
            passwords: the passwords that the server accepts.
            refuse: whether to refuse the client, with the reason `REFUSED`, before it can authenticate.
            tls: whether to require TLS: VeNCrypt's X509Vnc, or X509None without passwords.
        """
        encoded = name.encode()
        self._server_init = struct.pack(">HH", width, height) + RGBX.encode() + _text(encoded)
        self._passwords = passwords
        self.refused = refuse
        self._tls = tls
        self._minor = 3
        self._more_buttons = False  # whether the client may send ExtendedPointerEvents
        self._messages: list[Message] = []
        self._is_between = False  # no message has begun
        self._usual: dict[bytes, list[Message]] = {}
        super().__init__()

    def receive(self, data: bytes) -> list[Message]:
        """Return the messages that `data` completes.

        A client of shared frames sends the same few bytes after each frame. They are parsed once.

        After an error, all messages are ignored, including those that arrived together with its cause.

        Raises:
            ProtocolError: the client sent invalid data; `data_to_send` may return a last message.
            AuthError: authentication failed; `data_to_send` returns the reason for the client.
        """
        usual = self._usual.get(data) if self._is_between else None
        if usual is not None:
            return usual.copy()
        was_between = self._is_between
        try:
            self._feed(data)
            messages = self._messages.copy()  # the parser keeps a reference to the list
        finally:
            self._messages.clear()
        if was_between and self._is_between and len(data) <= _USUAL_BYTES and all(map(_is_usual, messages)):
            if len(self._usual) >= _USUAL:
                self._usual.clear()
            self._usual[data] = messages.copy()
        return messages

    def secured(self) -> None:
        """Continue after `BeginTLS`, when TLS has started.

        Raises:
            ProtocolError: plain text arrived that an attacker may have inserted, to pass it off as protected.
        """
        if self._received:
            raise ProtocolError(f"{len(self._received)} bytes of plain text where TLS begins")
        self._wanted = self._parser.send(b"")

    def _parse(self) -> Parser:
        yield from self._handshake()
        while True:
            self._is_between = True
            (kind,) = yield 1
            self._is_between = False
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
        yield 1  # ClientInit's shared flag, which is ignored: all sessions are shared
        self._out.append(self._server_init)
        self._messages.append(Established(access))

    def _vencrypt(self) -> Parser:
        """Negotiate TLS (rfbproto, "VeNCrypt")."""
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
        """Send a failed security result; only version 3.8 has a reason (RFC 6143 section 7.1.3)."""
        self._out.append(struct.pack(">I", 1) + (_text(reason.encode()) if self._minor >= 8 else b""))

    def _message(self, kind: int) -> Parser:
        match kind:
            case 0:
                data = yield 19  # 3 padding + 16 pixel-format
                self._messages.append(SetPixelFormat(PixelFormat.parse(data[3:])))
            case 2:
                named = (yield from read_encodings())[3:]
                encodings = struct.unpack(f">{len(named) // 4}i", named)
                self._more_buttons = EXTENDED_MOUSE_BUTTONS in encodings
                self._messages.append(SetEncodings(encodings))
            case 3:
                # 1 incremental + 2 x + 2 y + 2 width + 2 height
                incremental, *region = struct.unpack(">BHHHH", (yield 9))
                self._messages.append(UpdateRequest(bool(incremental), Rect(*region)))
            case 4:
                down, keysym = struct.unpack(">BxxI", (yield 7))  # 1 down-flag + 2 padding + 4 key
                self._messages.append(KeyEvent(keysym, bool(down)))
            case 5:
                button_mask, x, y = struct.unpack(">BHH", (yield 5))  # 1 button-mask + 2 x + 2 y
                if self._more_buttons and button_mask & 0x80:  # ExtendedPointerEvent (rfbproto)
                    button_mask = (button_mask & 0x7F | (yield 1)[0] << 7) & MOST_BUTTONS
                self._messages.append(PointerEvent(x, y, button_mask))
            case 6:
                yield from self._cut_text()
            case 248:
                yield from self._fence()
            case 0xE7:
                verb, number = struct.unpack(">BxxI", (yield 7))  # 1 verb + 2 padding + 4 number
                self._messages.append(_shared(verb, number))
            case _:
                raise ProtocolError(f"unknown client message type {kind}")

    def _fence(self) -> Parser:
        flags, length = fences.HEAD.unpack((yield fences.HEAD.size))
        if length > fences.MAX_PAYLOAD:
            raise LimitExceeded(f"client sends a fence of {length} bytes, the limit is {fences.MAX_PAYLOAD}")
        payload = (yield length) if length else b""
        if flags & fences.REQUEST:
            # Messages are processed in order, so BLOCK_BEFORE and BLOCK_AFTER need no code.
            self._messages.append(Fence(flags & (fences.BLOCK_BEFORE | fences.BLOCK_AFTER), payload))

    def _cut_text(self) -> Parser:
        (length,) = struct.unpack(">3xI", (yield 7))  # 3 padding + 4 length
        if length > MAX_CUT_TEXT:
            raise LimitExceeded(f"client announces {length} bytes of clipboard, the limit is {MAX_CUT_TEXT}")
        yield from drop(length)


def _is_usual(message: Message) -> bool:
    """Return whether the message depends on its own bytes only, and is frequent."""
    return isinstance(message, (UpdateRequest, SharedRelease))


def _minor_version(line: bytes) -> int:
    """Return the minor version, 3, 7 or 8; every other version counts as 3.3 (RFC 6143 section 7.1.1)."""
    major, dot, minor = line[4:7], line[7:8], line[8:11]
    if line[:4] != b"RFB " or dot != b"." or line[11:] != b"\n" or not (major + minor).isdigit():
        raise ProtocolError(f"not an rfb version: {line!r}")
    return int(minor) if major == b"003" and minor in (b"007", b"008") else 3


def _shared(verb: int, number: int) -> SharedReady | SharedRelease:
    match verb:
        case 0:
            return SharedReady()
        case 1:
            return SharedRelease(number)
        case _:
            raise ProtocolError(f"unknown verb {verb} of shared frames, known are 0 and 1")


def _text(encoded: bytes) -> bytes:
    return struct.pack(">I", len(encoded)) + encoded
