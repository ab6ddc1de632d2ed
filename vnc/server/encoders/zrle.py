"""ZRLE encoding (RFC 6143 section 7.7.6): tiles of palettes and runs in one zlib stream."""

from __future__ import annotations

import zlib
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from vnc.pixels.pixel_format import Codes, Packing, PixelFormat, cpixel
from vnc.server.encoders.base import EncodedRect
from vnc.server.encoders.runs import Runs, find_runs, pack_bits
from vnc.server.framebuffer.damage import Rect
from vnc.server.framebuffer.screen import Screen

_TILE = 64
_LEVEL = 1  # level 6 takes several times the CPU time to save a tenth of the bytes
_PALETTE = 127  # the most colours of a palette with runs
_PACKED = 16  # the most colours of a packed palette


class ZRLEEncoder:
    """The ZRLE encoder of one client, with its zlib stream."""

    def __init__(self) -> None:
        self._stream = zlib.compressobj(_LEVEL)

    def encode(self, screen: Screen, rect: Rect, pixel_format: PixelFormat) -> Iterable[EncodedRect]:
        """Return one encoded rectangle."""
        packing = cpixel(pixel_format)
        codes = screen.codes(rect, packing.format)
        tiles = (
            encode_tile(codes[y : y + _TILE, x : x + _TILE], packing)
            for y in range(0, rect.height, _TILE)
            for x in range(0, rect.width, _TILE)
        )
        data = self._stream.compress(b"".join(tiles)) + self._stream.flush(zlib.Z_SYNC_FLUSH)
        return (EncodedRect(rect, len(data).to_bytes(4, "big") + data),)


def encode_tile(codes: Codes, packing: Packing) -> bytes:
    """Return a tile in the sub-encoding with the smallest estimated size."""
    codes = np.ascontiguousarray(codes)
    runs = find_runs(codes)
    if runs.codes.size == 1:
        return b"\x01" + packing.pack(runs.codes)
    palette = runs.palette(_PALETTE)
    raw, plain = packing.size * codes.size, (packing.size + 1) * runs.codes.size
    if palette is not None:
        header = packing.size * palette.size
        indexed = header + int(np.count_nonzero(runs.lengths > 1)) + runs.codes.size
        packed = header + codes.shape[0] * -(-codes.shape[1] * _bits(palette) // 8)
        if palette.size <= _PACKED and packed <= min(raw, plain, indexed):
            return _packed_palette(codes, runs, palette, packing)
        if indexed <= min(raw, plain):
            return _palette_runs(runs, palette, packing)
    if plain < raw:
        return _plain_runs(runs, packing)
    return b"\x00" + packing.pack(codes)


def _bits(palette: Codes) -> int:
    return 1 if palette.size == 2 else 2 if palette.size <= 4 else 4


def _packed_palette(codes: Codes, runs: Runs, palette: Codes, packing: Packing) -> bytes:
    indices = np.repeat(runs.indices(palette), runs.lengths).reshape(codes.shape)
    return bytes([palette.size]) + packing.pack(palette) + pack_bits(indices, _bits(palette))


def _plain_runs(runs: Runs, packing: Packing) -> bytes:
    ends, out = _lay_out(packing.size + _length_bytes(runs.lengths))
    pixels = np.frombuffer(packing.pack(runs.codes), np.uint8).reshape(-1, packing.size)
    starts = ends - packing.size - _length_bytes(runs.lengths)
    for byte in range(packing.size):
        out[starts + byte] = pixels[:, byte]
    out[ends - 1] = (runs.lengths - 1) % 255
    return b"\x80" + out.tobytes()


def _palette_runs(runs: Runs, palette: Codes, packing: Packing) -> bytes:
    long = runs.lengths > 1
    sizes = 1 + np.where(long, _length_bytes(runs.lengths), 0)
    ends, out = _lay_out(sizes)
    out[(ends - 1)[long]] = ((runs.lengths - 1) % 255)[long]
    out[ends - sizes] = runs.indices(palette) | np.where(long, 128, 0).astype(np.uint8)
    return bytes([128 + palette.size]) + packing.pack(palette) + out.tobytes()


def _length_bytes(lengths: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the bytes of each run length: any number of 255s and one byte below 255."""
    return (lengths - 1) // 255 + 1


def _lay_out(sizes: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.uint8]]:
    """Return the end of each run's bytes, and an array for all bytes that is filled with 255."""
    ends = np.cumsum(sizes)
    return ends, np.full(int(ends[-1]), 255, np.uint8)
