"""Lossless Tight encoding (rfbproto, "Tight Encoding"): fill, palette and copy rectangles in zlib streams."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator

import numpy as np

from vnc.pixels.pixel_format import Codes, Packing, PixelFormat, tpixel
from vnc.server.encoders.base import EncodedRect
from vnc.server.encoders.runs import find_runs, pack_bits
from vnc.server.framebuffer.damage import Rect
from vnc.server.framebuffer.screen import Screen

_MAX_WIDTH = 2048  # the protocol's
_MAX_PIXELS = 65536  # TigerVNC's limit, by which clients size their buffers
_MIN_TO_COMPRESS = 12  # the protocol's: shorter data is not compressed
_LEVEL = 1
_FILL = 0x80
_EXPLICIT_FILTER = 0x40
_PALETTE_FILTER = b"\x01"
_COPY_STREAM, _MONO_STREAM, _INDEX_STREAM = 0, 1, 2  # one stream per kind of data


class TightEncoder:
    """The Tight encoder of one client; its zlib streams are never reset."""

    def __init__(self) -> None:
        self._streams = [zlib.compressobj(_LEVEL) for _ in range(3)]

    def encode(self, screen: Screen, rect: Rect, pixel_format: PixelFormat) -> Iterable[EncodedRect]:
        """Yield the encoded parts of `rect`, each within the size limits of Tight."""
        packing = tpixel(pixel_format)
        codes = screen.codes(rect, packing.format)
        for x, y, width, height in _parts(rect):
            part = np.ascontiguousarray(codes[y : y + height, x : x + width])
            yield EncodedRect(Rect(rect.x + x, rect.y + y, width, height), self._encode(part, packing))

    def _encode(self, codes: Codes, packing: Packing) -> bytes:
        runs = find_runs(codes)
        if runs.codes.size == 1:
            return bytes([_FILL]) + packing.pack(runs.codes)
        palette = runs.palette(256)
        if palette is None or not _pays(palette.size, codes.size, packing.size):
            return bytes([_COPY_STREAM << 4]) + self._compress(_COPY_STREAM, packing.pack(codes))
        indices = np.repeat(runs.indices(palette), runs.lengths).reshape(codes.shape)
        stream = _MONO_STREAM if palette.size == 2 else _INDEX_STREAM
        data = pack_bits(indices, 1) if palette.size == 2 else indices.tobytes()
        control = bytes([stream << 4 | _EXPLICIT_FILTER]) + _PALETTE_FILTER + bytes([palette.size - 1])
        return control + packing.pack(palette) + self._compress(stream, data)

    def _compress(self, stream: int, data: bytes) -> bytes:
        if len(data) < _MIN_TO_COMPRESS:
            return data
        compressor = self._streams[stream]
        packed = compressor.compress(data) + compressor.flush(zlib.Z_SYNC_FLUSH)
        return _compact_length(len(packed)) + packed


def _pays(colours: int, pixels: int, pixel_bytes: int) -> bool:
    """Whether a palette with indices is shorter than the pixels; two colours take one bit per pixel."""
    return colours == 2 or colours * pixel_bytes + pixels < pixels * pixel_bytes


def _compact_length(length: int) -> bytes:
    """Return a length with 7 bits per byte, lowest first; the top bit means that more follow. The third has 8."""
    if length < 1 << 7:
        return bytes([length])
    if length < 1 << 14:
        return bytes([length & 0x7F | 0x80, length >> 7])
    return bytes([length & 0x7F | 0x80, length >> 7 & 0x7F | 0x80, length >> 14])


def _parts(rect: Rect) -> Iterator[Rect]:
    """Yield parts of `rect` within the size limits of Tight, relative to its corner."""
    for x in range(0, rect.width, _MAX_WIDTH):
        width = min(_MAX_WIDTH, rect.width - x)
        step = max(1, _MAX_PIXELS // width)
        for y in range(0, rect.height, step):
            yield Rect(x, y, width, min(step, rect.height - y))
