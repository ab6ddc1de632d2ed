"""A filter in front of a VNC server, which forwards the permitted messages of a client and drops the others."""

from __future__ import annotations

import struct
from collections.abc import Sequence

from vnc import fences
from vnc.encodings import EXTENDED_MOUSE_BUTTONS, SHARED_FRAMES
from vnc.errors import LimitExceeded, ProtocolError
from vnc.events import Event, KeyEvent, PointerEvent
from vnc.server.conversation import VERSION, Conversation, Parser, drop, read_encodings

MAX_CUT_TEXT = 1 << 20
"""Bytes of clipboard text, which is dropped; a longer text ends the session."""

_NUMBER = struct.Struct(">i")
_ONE_TYPE_NONE = b"\x01\x01"
_OK = bytes(4)

_LENGTHS = {0: 20, 3: 10, 4: 8, 5: 6, 150: 10, 250: 4}
"""The lengths of messages of fixed size: pixel format, update request, key, pointer, continuous updates, xvp."""
# The client is not on the server's host, and its pointer events have a fixed length.
_NOT_PASSED = frozenset({SHARED_FRAMES, EXTENDED_MOUSE_BUTTONS})
_TRUE_COLOUR = 7  # the offset of the flag in SetPixelFormat: 1 type + 3 padding + 3
_WATCHING = frozenset({0, 2, 3, 150, 248})
_ACTING = _WATCHING | {4, 5, 255}
# No client may resize the screen (251), shut the machine down (250) or set its clipboard (6). No client may request a
# colour map or a fence, which the server answers at once: the answers would accumulate if the client does not read.


class Gate(Conversation):
    """The filter for one client, which the caller has authenticated by other means.

    Pass the client's bytes to `receive`, forward what it returns to the server, and send `data_to_send` to the client.
    The gate requires no password. When `opened` is True, send the server's own ServerInit to the client.
    """

    def __init__(self, *, acting: bool) -> None:
        """Prepare the version message; `data_to_send` returns it.

        Args:
            acting: whether to forward keys and pointer; otherwise the client can only watch.
        """
        self.opened = False
        """Whether the handshake is complete, ClientInit included."""
        self.events: Sequence[Event] = ()
        """The keys and pointer events among what the last `receive` returned."""
        self._passed = _ACTING if acting else _WATCHING
        self._forward: list[bytes] = []
        super().__init__()

    def receive(self, data: bytes) -> bytes:
        """Return the bytes to forward to the server.

        Raises:
            ProtocolError: the client sent invalid data; later bytes are dropped.
        """
        try:
            self._feed(data)
            self.events = [event for message in self._forward if (event := _event(message)) is not None]
            return b"".join(self._forward)
        finally:
            self._forward.clear()

    def _parse(self) -> Parser:
        yield from self._handshake()
        while True:
            head = yield 1
            length = _LENGTHS.get(head[0])
            if length is None:
                yield from self._variable(head)
            else:
                message = head + (yield length - 1)
                if message[0] == 0 and not message[_TRUE_COLOUR]:
                    raise ProtocolError("the client requests a colour map")
                self._pass(message)

    def _handshake(self) -> Parser:
        """Do the handshake without authentication (RFC 6143 sections 7.1 to 7.3.1)."""
        version = yield len(VERSION)
        if version != VERSION:
            raise ProtocolError(f"the client speaks {version!r}, not {VERSION!r}")
        self._out.append(_ONE_TYPE_NONE)
        (chosen,) = yield 1
        if chosen != 1:
            raise ProtocolError(f"client chose security type {chosen}, offered was 1")
        self._out.append(_OK)
        yield 1  # ClientInit's shared flag, ignored: the caller's connection to the server is shared
        self.opened = True

    def _pass(self, message: bytes) -> None:
        if message[0] in self._passed:
            self._forward.append(message)

    def _variable(self, head: bytes) -> Parser:
        match head[0]:
            case 2:
                self._pass(head + _passed_on((yield from read_encodings())))
            case 6:
                yield from self._cut_text()
            case 248:
                start = yield fences.HEAD.size
                flags, length = fences.HEAD.unpack(start)
                if length > fences.MAX_PAYLOAD:
                    raise LimitExceeded(f"fence of {length} bytes, the limit is {fences.MAX_PAYLOAD}")
                fence = head + start + ((yield length) if length else b"")
                if not flags & fences.REQUEST:
                    self._pass(fence)
            case 251:
                start = yield 7  # 1 padding + 2 width + 2 height + 1 number-of-screens + 1 padding
                yield from drop(16 * start[5])
            case 255:
                start = head + (yield 1)
                if start[1] != 0:
                    raise ProtocolError(f"unknown qemu client message {start[1]}")
                self._pass(start + (yield 10))  # 2 down-flag + 4 keysym + 4 keycode
            case _:
                raise ProtocolError(f"unknown client message type {head[0]}")

    def _cut_text(self) -> Parser:
        start = yield 7  # 3 padding + 4 length, negative for the extended clipboard
        length = abs(int.from_bytes(start[3:], "big", signed=True))
        if length > MAX_CUT_TEXT:
            raise LimitExceeded(f"client announces {length} bytes of clipboard, the limit is {MAX_CUT_TEXT}")
        yield from drop(length)


def _event(message: bytes) -> Event | None:
    match message[0]:
        case 4:
            down, keysym = struct.unpack_from(">BxxI", message, 1)
            return KeyEvent(keysym, bool(down))
        case 5:
            button_mask, x, y = struct.unpack_from(">BHH", message, 1)
            return PointerEvent(x, y, button_mask)
        case 255:  # 1 message-type + 1 submessage-type + 2 down-flag + 4 keysym + 4 keycode
            down, keysym = struct.unpack_from(">HI", message, 2)
            return KeyEvent(keysym, bool(down))
    return None


def _passed_on(encodings: bytes) -> bytes:
    """Remove what cannot be passed on from a SetEncodings after its type."""
    numbers = [number for (number,) in _NUMBER.iter_unpack(encodings[3:]) if number not in _NOT_PASSED]
    return struct.pack(f">xH{len(numbers)}i", len(numbers), *numbers)
