"""RFB pixel formats (RFC 6143 section 7.4), and the conversion of RGB pixels to them."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vnc.errors import ProtocolError
from vnc.pixels.frame import Frame

Codes = NDArray[np.unsignedinteger[Any]]
"""One unsigned integer per pixel; its bytes in memory are the pixel's bytes on the wire."""

# 1 bits-per-pixel + 1 depth + 1 big-endian + 1 true-colour + 3 x 2 maxima + 3 x 1 shifts + 3 padding
_WIRE = struct.Struct(">BBBBHHHBBB3x")

_DTYPES: dict[int, type[np.uint8 | np.uint16 | np.uint32]] = {8: np.uint8, 16: np.uint16, 32: np.uint32}


@dataclass(frozen=True, slots=True)
class WordLayout:
    """How to read a 32-bit pixel with 8 bits per channel as one word of packed RGB."""

    first: int
    """Start of the word in bytes from the pixel's red byte: -1 or 0."""
    swap: bool
    """Whether to reverse the word's bytes."""
    mask: int
    """Clears the byte that belongs to the neighbouring pixel."""


# By the positions of red, green and blue in the four bytes on the wire.
_LAYOUTS = {
    (0, 1, 2): WordLayout(0, False, 0x00FFFFFF),
    (2, 1, 0): WordLayout(-1, True, 0x00FFFFFF),
    (1, 2, 3): WordLayout(-1, False, 0xFFFFFF00),
    (3, 2, 1): WordLayout(0, True, 0xFFFFFF00),
}


@dataclass(frozen=True, slots=True)
class PixelFormat:
    """The PIXEL_FORMAT structure (RFC 6143 section 7.4)."""

    bits_per_pixel: int
    depth: int
    big_endian: bool
    true_colour: bool
    red_max: int
    green_max: int
    blue_max: int
    red_shift: int
    green_shift: int
    blue_shift: int

    @classmethod
    def parse(cls, data: bytes) -> PixelFormat:
        """Decode the 16 bytes of a format that the server supports.

        Raises:
            ProtocolError: the format is invalid, or has a colour map and not 8 bits per pixel.
        """
        bits, depth, big_endian, true_colour, *channels = _WIRE.unpack(data)
        parsed = cls(bits, depth, bool(big_endian), bool(true_colour), *channels)
        if bits not in _DTYPES:
            raise ProtocolError(f"pixel format has {bits} bits per pixel, not 8, 16 or 32")
        if parsed.true_colour:
            parsed._check_channels()
        elif bits != 8:
            raise ProtocolError(f"a colour map needs 8 bits per pixel, not {bits}")
        return parsed

    def _check_channels(self) -> None:
        for maximum, shift in self.channels:
            if maximum == 0 or maximum.bit_length() + shift > self.bits_per_pixel:
                raise ProtocolError(
                    f"colour maximum {maximum} at shift {shift} does not fit {self.bits_per_pixel} bits"
                )

    def encode(self) -> bytes:
        """Return the 16 bytes of the structure."""
        flags = (self.bits_per_pixel, self.depth, self.big_endian, self.true_colour)
        maxima, shifts = zip(*self.channels, strict=True)
        return _WIRE.pack(*flags, *maxima, *shifts)

    @property
    def channels(self) -> tuple[tuple[int, int], ...]:
        """The (maximum, shift) of red, green and blue."""
        return (
            (self.red_max, self.red_shift),
            (self.green_max, self.green_shift),
            (self.blue_max, self.blue_shift),
        )

    @property
    def dtype(self) -> np.dtype[Any]:
        """The unsigned integer type of a pixel, in the client's byte order."""
        return np.dtype(_DTYPES[self.bits_per_pixel]).newbyteorder(">" if self.big_endian else "<")

    @property
    def whole_bytes(self) -> bool:
        """Whether a pixel is 32 bits with 8 each for red, green and blue, at any shift."""
        return self.bits_per_pixel == 32 and all(maximum == 255 for maximum, _ in self.channels)

    def effective(self) -> PixelFormat:
        """Return the true-colour format that pixels are sent in; for a colour map that is `BGR233`."""
        return self if self.true_colour else BGR233


RGBX = PixelFormat(32, 24, False, True, 255, 255, 255, 0, 8, 16)
"""The server's own format, with red first in memory, as in observations."""

BGR233 = PixelFormat(8, 8, False, True, 7, 7, 3, 0, 3, 6)
"""The format for clients with a colour map, which `colour_map` sets."""


@dataclass(frozen=True, slots=True)
class Packing:
    """The bytes of a pixel that an encoding sends: `size` bytes from byte `first` of its code in `format`."""

    format: PixelFormat
    first: int
    size: int

    def pack(self, codes: Codes) -> bytes:
        """Return the packed bytes of all `codes`, in order."""
        flat = np.ascontiguousarray(codes).reshape(-1)
        if self.size == flat.itemsize:
            return flat.tobytes()
        source = flat.view(np.uint8).reshape(flat.size, flat.itemsize)
        packed = np.empty((flat.size, self.size), np.uint8)
        for byte in range(self.size):  # by column: numpy copies rows of three bytes four times more slowly
            packed[:, byte] = source[:, self.first + byte]
        return packed.tobytes()


@lru_cache(maxsize=64)
def cpixel(pixel_format: PixelFormat) -> Packing:
    """Return the CPIXEL (RFC 6143 section 7.7.5): three bytes if all colour bits fit into three."""
    size = pixel_format.bits_per_pixel // 8
    if size == 4 and pixel_format.depth <= 24:
        low = all(maximum << shift < 1 << 24 for maximum, shift in pixel_format.channels)
        high = all(shift >= 8 for _, shift in pixel_format.channels)
        if low or high:
            return Packing(pixel_format, int(low == pixel_format.big_endian), 3)
    return Packing(pixel_format, 0, size)


@lru_cache(maxsize=64)
def tpixel(pixel_format: PixelFormat) -> Packing:
    """Return the TPIXEL of Tight (rfbproto): three bytes if the depth is 24 and each channel has 8 bits."""
    if pixel_format.whole_bytes and pixel_format.depth == 24:
        return Packing(RGBX, 0, 3)
    return Packing(pixel_format, 0, pixel_format.bits_per_pixel // 8)


@lru_cache(maxsize=64)
def word_layout(pixel_format: PixelFormat) -> WordLayout | None:
    """Return how to read pixels as words of packed RGB; None if their bytes are not consecutive."""
    if not pixel_format.whole_bytes or any(shift % 8 for _, shift in pixel_format.channels):
        return None
    places = [shift // 8 for _, shift in pixel_format.channels]
    if pixel_format.big_endian:
        places = [3 - place for place in places]
    return _LAYOUTS.get((places[0], places[1], places[2]))


@lru_cache(maxsize=64)
def _tables(pixel_format: PixelFormat) -> tuple[Codes, ...]:
    """Return, per channel, what each of its 256 levels adds to a pixel, in native byte order."""
    levels = np.arange(256, dtype=np.uint64)
    dtype = _DTYPES[pixel_format.bits_per_pixel]
    return tuple(
        (((levels * maximum + 127) // 255) << shift).astype(dtype) for maximum, shift in pixel_format.channels
    )


def convert(rgb: Frame, pixel_format: PixelFormat) -> Codes:
    """Return the pixels of `rgb` in a true-colour format, shape (height, width), rounded to the nearest levels."""
    red, green, blue = _tables(pixel_format)
    codes = red[rgb[..., 0]]
    codes |= green[rgb[..., 1]]
    codes |= blue[rgb[..., 2]]
    if not pixel_format.dtype.isnative:
        codes.byteswap(inplace=True)
    return codes


def colour_map() -> bytes:
    """Return the SetColourMapEntries message (RFC 6143 section 7.6.2) that sets the colours of `BGR233`."""
    # 1 message-type + 1 padding + 2 first-colour + 2 number-of-colours
    header = struct.pack(">BxHH", 1, 0, 256)
    codes = np.arange(256)
    channels = [((codes >> shift) & maximum) * 65535 // maximum for maximum, shift in BGR233.channels]
    return header + np.stack(channels, axis=1).astype(">u2").tobytes()
