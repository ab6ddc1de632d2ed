"""Capture files: the messages that a VNC server sent, with their times.

A capture is one line of JSON (`CaptureHeader`), followed by records: 1 kind + 8 microseconds since the start of the
capture + 4 length + the data. A truncated file is read up to its last complete record.

    kind 1  one server message, with its type byte; its time is that of its last byte
    kind 2  the PIXEL_FORMAT (16 bytes) that the client set; before the first it is `RGBX`
    kind 3  the encodings that the client requested, 4 bytes each
    kind 4  a FramebufferUpdateRequest: 1 incremental + 2 x + 2 y + 2 width + 2 height
    kind 5  encodings that the next update uses for the first time, 4 bytes each

A capture contains neither the handshake, nor input events, nor clipboard text, nor fences. It contains the pixels: a
password that was visible on the screen is visible in the replay.
"""

from __future__ import annotations

import errno
import logging
import mmap
import struct
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from vnc.capture.scan import BELL, COLOUR_MAP, FRAMEBUFFER_UPDATE, ServerMessage
from vnc.errors import ProtocolError
from vnc.pixels.pixel_format import RGBX, PixelFormat
from vnc.private_file import create_private
from vnc.server.framebuffer.damage import Rect

MAX_BYTES = 1 << 30
"""The default bound of a file: five seconds of full-screen noise in Raw at 1024x768."""

MESSAGE, FORMAT, ENCODINGS, REQUEST, USES = 1, 2, 3, 4, 5

_MAGIC = "universe-client capture"
_VERSION = 1
_MAX_HEADER = 64 * 1024
log = logging.getLogger(__name__)

_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_RECORD = struct.Struct(">BQI")
_STORED = (FRAMEBUFFER_UPDATE, COLOUR_MAP, BELL)


class CaptureError(ValueError):
    """The file is not a capture, or this version cannot read it."""


class CaptureHeader(msgspec.Struct, frozen=True):
    """The first line of a capture."""

    width: int
    """Initial width of the screen in pixels."""
    height: int
    """Initial height of the screen in pixels."""
    name: str
    """Desktop name."""
    created: float = 0.0
    """Time of the recording, in seconds since 1970."""
    format: str = _MAGIC
    version: int = _VERSION


class CaptureWriter:
    """The writer of a new capture. It writes each record at once, so that a crash loses at most the last one."""

    def __init__(
        self,
        path: Path,
        header: CaptureHeader,
        *,
        max_bytes: int = MAX_BYTES,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Create the file, which only its owner can read.

        Args:
            path: path of the new file.
            header: the first line.
            max_bytes: size after which nothing more is written.
            clock: monotonic clock in seconds.

        Raises:
            FileExistsError: the file exists.
        """
        self.path = path
        self.bytes = 0
        self.updates = 0
        self.full = False
        """Whether a record did not fit; nothing is written after that."""
        self._max_bytes, self._clock = max_bytes, clock
        self._began = clock()
        self._uses: set[int] = set()
        self._file = create_private(path, buffering=0)
        self._put(msgspec.json.encode(header) + b"\n")

    def message(self, message: ServerMessage) -> None:
        """Store a server message; messages without meaning in a replay are dropped."""
        if message.kind not in _STORED:
            return
        new = message.encodings - self._uses
        if new:
            self._uses |= new
            self._record(USES, struct.pack(f">{len(new)}i", *sorted(new)))
        self._record(MESSAGE, message.data)
        self.updates += message.kind == FRAMEBUFFER_UPDATE and not self.full

    def pixel_format(self, pixel_format: PixelFormat) -> None:
        """Store the pixel format that the client set."""
        self._record(FORMAT, pixel_format.encode())

    def encodings(self, encodings: Sequence[int]) -> None:
        """Store the encodings that the client requested."""
        self._record(ENCODINGS, struct.pack(f">{len(encodings)}i", *encodings))

    def request(self, incremental: bool, region: Rect) -> None:
        """Store a FramebufferUpdateRequest of the client."""
        self._record(REQUEST, struct.pack(">BHHHH", incremental, *region))

    def _record(self, kind: int, data: bytes) -> None:
        if self.full or self.bytes + _RECORD.size + len(data) > self._max_bytes:
            self.full = True
            return
        microseconds = int(1e6 * (self._clock() - self._began))
        try:
            self._put(_RECORD.pack(kind, microseconds, len(data)) + data)
        except OSError as error:
            if error.errno not in _NO_ROOM:
                raise
            self.full = True
            self._file.truncate(self.bytes)  # to the end of the last whole record
            log.warning(
                "! %s: %s; the capture ends after %d updates", self.path, error.strerror, self.updates
            )

    def _put(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[self._file.write(view) :]
        self.bytes += len(data)

    def close(self) -> None:
        """Close the file; idempotent."""
        self._file.close()

    def __enter__(self) -> CaptureWriter:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


@dataclass(frozen=True, slots=True)
class Recorded:
    """A server message of a capture."""

    time: float
    """Seconds since the start of the capture."""
    kind: int
    """Message type (RFC 6143 section 7.6)."""
    data: memoryview
    """The message, with its type byte."""


@dataclass(slots=True)
class Capture:
    """A capture from a file. Its messages are mapped into memory, not read."""

    header: CaptureHeader
    pixel_format: PixelFormat = RGBX
    encodings: tuple[int, ...] = ()
    """The encodings that the client requested last."""
    uses: frozenset[int] = frozenset()
    """The encodings of all rectangles, pseudo-encodings included."""
    messages: list[Recorded] = field(default_factory=list)
    requests: list[float] = field(default_factory=list)
    """The times of update requests, in seconds since the start of the capture."""
    truncated: bool = False
    """Whether the file ends with an incomplete record, which is ignored."""

    @property
    def updates(self) -> list[Recorded]:
        """The FramebufferUpdate messages."""
        return [message for message in self.messages if message.kind == FRAMEBUFFER_UPDATE]

    @property
    def seconds(self) -> float:
        """Seconds from the start of the capture to its last message."""
        return self.messages[-1].time if self.messages else 0.0


def read_capture(path: Path) -> Capture:
    """Read a capture up to its last complete record.

    Raises:
        OSError: the file cannot be read.
        CaptureError: the file is not a capture, or contains an invalid record.
    """
    with open(path, "rb") as file:
        line = file.readline(_MAX_HEADER)
        capture = Capture(_header(line, path))
        content = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    at = len(line)
    while at < len(content):
        end = at + _RECORD.size
        if end <= len(content):
            kind, microseconds, length = _RECORD.unpack_from(content, at)
            end += length
        if end > len(content):
            capture.truncated = True
            break
        try:
            _add(capture, kind, microseconds / 1e6, content[end - length : end])
        except (ValueError, ProtocolError, struct.error) as error:
            raise CaptureError(f"{path}: record of kind {kind} at byte {at}: {error}") from error
        at = end
    return capture


def _header(line: bytes, path: Path) -> CaptureHeader:
    try:
        header = msgspec.json.decode(line, type=CaptureHeader)
    except (ValueError, RecursionError) as error:  # a DecodeError, or text that is not UTF-8
        raise CaptureError(f"{path} is not a capture: {error}") from None
    if header.format != _MAGIC or not line.endswith(b"\n"):
        raise CaptureError(f"{path} is not a capture")
    if header.version != _VERSION:
        raise CaptureError(
            f"{path} is a capture of version {header.version}; this release reads version {_VERSION}"
        )
    if not (0 < header.width < 65536 and 0 < header.height < 65536):
        raise CaptureError(f"{path} has a screen of {header.width}x{header.height}")
    return header


def _add(capture: Capture, kind: int, seconds: float, data: memoryview) -> None:
    match kind:
        case 1:
            if not data:
                raise ValueError("the message is empty")
            capture.messages.append(Recorded(seconds, data[0], data))
        case 2:
            capture.pixel_format = PixelFormat.parse(bytes(data))
        case 3:
            capture.encodings = _integers(data)
        case 4:
            capture.requests.append(seconds)
        case 5:
            capture.uses |= set(_integers(data))
        case _:
            raise ValueError("unknown kind")


def _integers(data: memoryview) -> tuple[int, ...]:
    return struct.unpack(f">{len(data) // 4}i", data)
