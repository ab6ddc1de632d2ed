"""A parser that splits a server's data into messages, without decoding pixels."""

from __future__ import annotations

import struct
from collections.abc import Callable, Generator
from dataclasses import dataclass

from vnc import encodings
from vnc.errors import LimitExceeded, ProtocolError
from vnc.pixels.pixel_format import PixelFormat, tpixel
from vnc.session import Limits

FRAMEBUFFER_UPDATE, COLOUR_MAP, BELL, CUT_TEXT, END_OF_CONTINUOUS_UPDATES, FENCE = 0, 1, 2, 3, 150, 248

_RECT = struct.Struct(">HHHHi")  # RFC 6143 section 7.6.1: 2 x + 2 y + 2 width + 2 height + 4 encoding
_UNTIL_LAST_RECT = 0xFFFF
_TIGHT_MIN_TO_COMPRESS = 12
_HEXTILE_RAW, _HEXTILE_BACKGROUND, _HEXTILE_FOREGROUND, _HEXTILE_SUBRECTS, _HEXTILE_COLOURED = 1, 2, 4, 8, 16
_ZLIB_STREAM, _ZRLE_STREAM = 4, 5  # after Tight's streams 0 to 3

Steps = Generator[None, None, None]
"""Yields when it needs more bytes than have arrived."""

Offset = Generator[None, None, int]


@dataclass(frozen=True, slots=True)
class Payload:
    """Compressed data in a message: `message.data[start:end]`."""

    stream: int
    """The zlib stream of the data: 0 to 3 Tight's, 4 Zlib's, 5 ZRLE's; -1 for a JPEG image."""
    fresh: bool
    """Whether the stream starts with this data."""
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class ServerMessage:
    """One complete message of a server; the last four fields describe an update."""

    kind: int
    """Message type (RFC 6143 section 7.6)."""
    data: bytes
    """The message, with its type byte."""
    rects: int = 0
    pixels: int = 0
    encodings: frozenset[int] = frozenset()
    payloads: tuple[Payload, ...] = ()


class Scanner:
    """A parser of the data that a server sends after its ServerInit.

    `receive` takes bytes and returns complete messages. `width` and `height` follow the server's resizes.
    """

    def __init__(
        self, width: int, height: int, pixel_format: PixelFormat, limits: Limits | None = None
    ) -> None:
        self.width, self.height = width, height
        self._limits = limits or Limits()
        self._buffer = bytearray()
        self._at = 0
        self._messages: list[ServerMessage] = []
        self._new_streams = set(range(6))
        self.pixel_format = pixel_format
        self._clear()
        self._steps = self._scan()
        next(self._steps)

    @property
    def pixel_format(self) -> PixelFormat:
        """The client's pixel format; set it before the first update."""
        return self._format

    @pixel_format.setter
    def pixel_format(self, pixel_format: PixelFormat) -> None:
        self._format = pixel_format
        self._pixel = pixel_format.bits_per_pixel // 8
        self._tpixel = tpixel(pixel_format).size

    @property
    def pending(self) -> int:
        """The number of buffered bytes of an incomplete message."""
        return len(self._buffer)

    def receive(self, data: bytes | memoryview) -> list[ServerMessage]:
        """Return the messages that `data` completes.

        Raises:
            ProtocolError: the bytes are not valid RFB, or exceed the limits; the parser accepts no more.
        """
        self._buffer += data
        next(self._steps)
        self._check_size()
        messages, self._messages = self._messages, []
        return messages

    def _check_size(self) -> None:
        most = 16 * self.width * self.height + (1 << 20)
        if len(self._buffer) > most:
            raise LimitExceeded(f"{len(self._buffer)} bytes of one message, the limit is {most}")

    def _clear(self) -> None:
        self._rects = self._pixels = 0
        self._encodings: set[int] = set()
        self._payloads: list[Payload] = []

    # messages

    def _scan(self) -> Steps:
        yield
        while True:
            kind = self._buffer[(yield from self._take(1))]
            yield from self._message(kind)
            data = bytes(memoryview(self._buffer)[: self._at])
            self._messages.append(
                ServerMessage(
                    kind, data, self._rects, self._pixels, frozenset(self._encodings), tuple(self._payloads)
                )
            )
            del self._buffer[: self._at]
            self._at = 0
            self._clear()

    def _take(self, count: int) -> Offset:
        """Wait for `count` bytes, consume them, and return their offset."""
        while len(self._buffer) - self._at < count:
            yield
        self._at += count
        return self._at - count

    def _drop(self, count: int) -> Steps:
        """Wait for `count` bytes and discard them."""
        while count:
            dropped = min(len(self._buffer) - self._at, count)
            del self._buffer[self._at : self._at + dropped]
            count -= dropped
            if count:
                yield

    def _integer(self, size: int) -> Offset:
        start = yield from self._take(size)
        return int.from_bytes(self._buffer[start : start + size], "big")

    def _message(self, kind: int) -> Steps:
        match kind:
            case 0:
                yield from self._update()
            case 1:  # 1 padding + 2 first-colour + 2 number-of-colours
                yield from self._take(3)
                yield from self._take(6 * (yield from self._integer(2)))
            case 2 | 150:
                pass
            case 3:
                yield from self._cut_text()
            case 248:  # 3 padding + 4 flags + 1 length
                yield from self._take(7)
                yield from self._take((yield from self._integer(1)))
            case _:
                raise ProtocolError(f"unknown server message type {kind}")

    def _cut_text(self) -> Steps:
        yield from self._take(3)
        length = yield from self._integer(4)
        if length >= 1 << 31:
            length = (1 << 32) - length  # the extended clipboard's
        kept = min(length, self._limits.cut_text)
        yield from self._take(kept)
        yield from self._drop(length - kept)

    # rects

    def _update(self) -> Steps:
        yield from self._take(1)
        count = yield from self._integer(2)
        while count == _UNTIL_LAST_RECT or self._rects < count:
            start = yield from self._take(_RECT.size)
            x, y, width, height, encoding = _RECT.unpack_from(self._buffer, start)
            self._rects += 1
            self._encodings.add(encoding)
            if encoding == encodings.LAST_RECT:
                return
            if encoding < 0:
                yield from self._pseudo(width, height, encoding)
            else:
                yield from self._pixel_rect(x, y, width, height, encoding)

    def _pixel_rect(self, x: int, y: int, width: int, height: int, encoding: int) -> Steps:
        what = f"rect {self._rects - 1} ({x}, {y}, {width}x{height}, encoding {encoding})"
        if x + width > self.width or y + height > self.height:
            raise ProtocolError(f"{what} is outside the {self.width}x{self.height} framebuffer")
        skip = self._skips.get(encoding)
        if skip is None:
            raise ProtocolError(f"{what} has an unknown encoding")
        self._pixels += width * height
        yield from skip(self, width, height)

    def _pseudo(self, width: int, height: int, encoding: int) -> Steps:
        mask = (width + 7) // 8 * height
        match encoding:
            case encodings.DESKTOP_SIZE | encodings.EXTENDED_DESKTOP_SIZE:
                yield from self._resize(width, height, encoding)
            case encodings.CURSOR:
                yield from self._take(width * height * self._pixel + mask)
            case encodings.X_CURSOR if mask:
                yield from self._take(6 + 2 * mask)
            case encodings.X_CURSOR | encodings.POINTER_POSITION | encodings.QEMU_KEYS:
                pass
            case encodings.LED_STATE:
                yield from self._take(1)
            case encodings.DESKTOP_NAME:
                yield from self._text()
            case _:
                raise ProtocolError(f"rect {self._rects - 1} has an unknown encoding {encoding}")

    def _text(self) -> Steps:
        length = yield from self._integer(4)
        if length > self._limits.text:
            raise LimitExceeded(f"desktop name of {length} bytes, the limit is {self._limits.text}")
        yield from self._take(length)

    def _resize(self, width: int, height: int, encoding: int) -> Steps:
        if encoding == encodings.EXTENDED_DESKTOP_SIZE:  # 1 number-of-screens + 3 padding + 16 each
            screens = yield from self._integer(1)
            yield from self._take(3 + 16 * screens)
        limits = self._limits
        if width > limits.framebuffer_width or height > limits.framebuffer_height:
            most = f"{limits.framebuffer_width}x{limits.framebuffer_height}"
            raise LimitExceeded(f"framebuffer of {width}x{height}, the limit is {most}")
        self.width, self.height = width, height

    def _raw(self, width: int, height: int) -> Steps:
        yield from self._take(width * height * self._pixel)

    def _copy(self, width: int, height: int) -> Steps:
        yield from self._take(4)  # 2 src-x + 2 src-y

    def _rre(self, width: int, height: int) -> Steps:
        count = yield from self._integer(4)
        if count > width * height:
            raise ProtocolError(f"{count} subrects in an rre rect of {width}x{height}")
        yield from self._take(self._pixel + count * (self._pixel + 8))

    def _hextile(self, width: int, height: int) -> Steps:
        """Consume the tiles of a Hextile rectangle (RFC 6143 section 7.7.4)."""
        for y in range(0, height, 16):
            for x in range(0, width, 16):
                mask = self._buffer[(yield from self._take(1))]
                if mask & _HEXTILE_RAW:
                    yield from self._take(min(16, width - x) * min(16, height - y) * self._pixel)
                    continue
                colours = bool(mask & _HEXTILE_BACKGROUND) + bool(mask & _HEXTILE_FOREGROUND)
                if colours:
                    yield from self._take(colours * self._pixel)
                if mask & _HEXTILE_SUBRECTS:
                    count = self._buffer[(yield from self._take(1))]
                    each = self._pixel + 2 if mask & _HEXTILE_COLOURED else 2
                    yield from self._take(count * each)

    def _zlib(self, width: int, height: int) -> Steps:
        yield from self._compressed(_ZLIB_STREAM, (yield from self._integer(4)), width, height)

    def _zrle(self, width: int, height: int) -> Steps:
        yield from self._compressed(_ZRLE_STREAM, (yield from self._integer(4)), width, height)

    def _compressed(self, stream: int, length: int, width: int, height: int) -> Steps:
        most = 2 * width * height * self._pixel + 64 * 1024
        if length > most:
            raise LimitExceeded(f"{length} bytes of compressed rect, the limit is {most}")
        start = yield from self._take(length)
        fresh = stream in self._new_streams
        self._new_streams.discard(stream)
        self._payloads.append(Payload(stream, fresh, start, self._at))

    # Tight: rfbproto.rst, "Tight Encoding"

    def _tight(self, width: int, height: int) -> Steps:
        control = self._buffer[(yield from self._take(1))]
        self._new_streams |= {stream for stream in range(4) if control >> stream & 1}
        kind = control >> 4
        if kind == 0b1000:
            yield from self._take(self._tpixel)
        elif kind == 0b1001:
            yield from self._compressed(-1, (yield from self._compact_length()), width, height)
        elif kind < 0b1000:
            yield from self._tight_basic(kind, width, height)
        else:
            raise ProtocolError(f"tight compression control {control:#04x}")

    def _tight_basic(self, kind: int, width: int, height: int) -> Steps:
        bits = 8 * self._tpixel
        if kind & 0b0100:
            bits = yield from self._tight_filter()
        length = (width * bits + 7) // 8 * height
        if length < _TIGHT_MIN_TO_COMPRESS:
            yield from self._take(length)
        else:
            compressed = yield from self._compact_length()
            yield from self._compressed(kind & 0b0011, compressed, width, height)

    def _tight_filter(self) -> Offset:
        """Return the number of bits per pixel after the filter."""
        number = yield from self._integer(1)
        if number == 1:
            colours = 1 + (yield from self._integer(1))
            yield from self._take(colours * self._tpixel)
            return 1 if colours == 2 else 8
        if number not in (0, 2):
            raise ProtocolError(f"tight filter {number}")
        return 8 * self._tpixel

    def _compact_length(self) -> Offset:
        length = 0
        for shift in (0, 7, 14):
            byte = yield from self._integer(1)
            length |= (byte if shift == 14 else byte & 0x7F) << shift
            if byte < 0x80:
                break
        return length

    _skips: dict[int, Callable[[Scanner, int, int], Steps]] = {  # noqa: RUF012  (a table, never written)
        encodings.RAW: _raw,
        encodings.COPY_RECT: _copy,
        encodings.RRE: _rre,
        encodings.HEXTILE: _hextile,
        encodings.ZLIB: _zlib,
        encodings.TIGHT: _tight,
        encodings.ZRLE: _zrle,
    }


PIXEL_ENCODINGS = frozenset(Scanner._skips)
"""The pixel encodings whose lengths the scanner knows."""
