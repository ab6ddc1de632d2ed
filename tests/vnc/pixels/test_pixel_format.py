"""Pixel formats: parsing, refusals, and conversion against plain integer arithmetic."""

from __future__ import annotations

import dataclasses
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vnc.errors import ProtocolError
from vnc.pixels.pixel_format import (
    BGR233,
    RGBX,
    PixelFormat,
    colour_map,
    convert,
    cpixel,
    tpixel,
    word_layout,
)
from vnc.server.framebuffer.damage import Rect
from vnc.server.framebuffer.screen import Screen

BGRX = PixelFormat(32, 24, False, True, 255, 255, 255, 16, 8, 0)
RGB565 = PixelFormat(16, 16, False, True, 31, 63, 31, 11, 5, 0)


def swapped(pixel_format: PixelFormat) -> PixelFormat:
    return dataclasses.replace(pixel_format, big_endian=not pixel_format.big_endian)


@st.composite
def formats(draw: st.DrawFn) -> PixelFormat:
    """Any true-colour format: arbitrary maxima, anywhere in the pixel."""
    bits = draw(st.sampled_from([8, 16, 32]))
    maxima = [draw(st.integers(1, 2 ** min(bits // 2, 16) - 1)) for _ in range(3)]
    if bits == 32 and draw(st.booleans()):
        maxima = [255] * 3
    shifts = [draw(st.integers(0, bits - maximum.bit_length())) for maximum in maxima]
    return PixelFormat(bits, draw(st.sampled_from([bits, 24])), draw(st.booleans()), True, *maxima, *shifts)


def wire_pixel(red: int, green: int, blue: int, pixel_format: PixelFormat) -> bytes:
    value = 0
    for level, (maximum, shift) in zip((red, green, blue), pixel_format.channels, strict=True):
        value |= int(level * maximum / 255 + 0.5) << shift
    order = "big" if pixel_format.big_endian else "little"
    return value.to_bytes(pixel_format.bits_per_pixel // 8, order)


@given(formats(), st.integers(0, 2**32))
def test_every_format_is_converted_to_the_bytes_arithmetic_gives(
    pixel_format: PixelFormat, seed: int
) -> None:
    rgb = np.random.default_rng(seed).integers(0, 256, (5, 7, 3), dtype=np.uint8)
    expected = b"".join(wire_pixel(*pixel, pixel_format) for row in rgb.tolist() for pixel in row)
    assert convert(rgb, pixel_format).tobytes() == expected
    screen = Screen(7, 5)
    screen.present(rgb)
    assert screen.codes(screen.rect, pixel_format).tobytes() == expected


FAST = [
    RGBX,
    BGRX,
    swapped(RGBX),
    swapped(BGRX),
    PixelFormat(32, 24, False, True, 255, 255, 255, 8, 16, 24),
    PixelFormat(32, 32, False, True, 255, 255, 255, 24, 16, 8),
]


@pytest.mark.parametrize("pixel_format", FAST, ids=str)
def test_layouts_of_real_viewers_are_read_as_words(pixel_format: PixelFormat) -> None:
    assert word_layout(pixel_format) is not None
    rgb = np.random.default_rng(1).integers(0, 256, (33, 50, 3), dtype=np.uint8)
    screen = Screen(50, 33)
    screen.present(rgb)
    for rect in (screen.rect, Rect(3, 5, 17, 11), Rect(49, 32, 1, 1)):
        window = rgb[rect.y : rect.y + rect.height, rect.x : rect.x + rect.width]
        expected = b"".join(wire_pixel(*pixel, pixel_format) for row in window.tolist() for pixel in row)
        assert screen.codes(rect, pixel_format).tobytes() == expected


@given(formats())
def test_a_format_survives_its_own_wire_form(pixel_format: PixelFormat) -> None:
    assert PixelFormat.parse(pixel_format.encode()) == pixel_format


NONSENSE = {
    "24 bits": struct.pack(">BBBBHHHBBB3x", 24, 24, 0, 1, 255, 255, 255, 16, 8, 0),
    "no bits": bytes(16),
    "no red": struct.pack(">BBBBHHHBBB3x", 32, 24, 0, 1, 0, 255, 255, 16, 8, 0),
    "shifted out": struct.pack(">BBBBHHHBBB3x", 32, 24, 0, 1, 255, 255, 255, 25, 8, 0),
    "huge shift": struct.pack(">BBBBHHHBBB3x", 32, 24, 0, 1, 255, 255, 255, 255, 8, 0),
    "too wide": struct.pack(">BBBBHHHBBB3x", 8, 8, 0, 1, 511, 7, 3, 0, 3, 6),
    "deep colour map": struct.pack(">BBBBHHHBBB3x", 16, 8, 0, 0, 0, 0, 0, 0, 0, 0),
}


@pytest.mark.parametrize("wire", NONSENSE.values(), ids=NONSENSE)
def test_nonsense_is_refused(wire: bytes) -> None:
    with pytest.raises(ProtocolError):
        PixelFormat.parse(wire)


@pytest.mark.parametrize(
    ("pixel_format", "first", "size"),
    [
        (RGBX, 0, 3),
        (swapped(RGBX), 1, 3),
        (FAST[4], 1, 3),  # the top three bytes
        (swapped(FAST[4]), 0, 3),
        (FAST[5], 0, 4),  # depth 32
        (RGB565, 0, 2),
        (BGR233, 0, 1),
    ],
)
def test_cpixel_takes_the_three_bytes_with_colour(pixel_format: PixelFormat, first: int, size: int) -> None:
    packing = cpixel(pixel_format)
    assert (packing.first, packing.size) == (first, size)
    codes = convert(np.array([[[1, 2, 3], [250, 128, 7]]], np.uint8), pixel_format)
    width = pixel_format.bits_per_pixel // 8
    whole = codes.tobytes()
    expected = b"".join(whole[at + first : at + first + size] for at in range(0, len(whole), width))
    assert packing.pack(codes) == expected


def test_tpixel_is_red_green_blue_whatever_the_order_of_the_client() -> None:
    for pixel_format in (RGBX, BGRX, swapped(BGRX)):
        assert (tpixel(pixel_format).format, tpixel(pixel_format).size) == (RGBX, 3)
    assert tpixel(FAST[5]).size == 4
    assert tpixel(RGB565).size == 2


def test_the_colour_map_gives_each_code_the_colour_it_stands_for() -> None:
    message = colour_map()
    assert struct.unpack(">BxHH", message[:6]) == (1, 0, 256)
    colours = np.frombuffer(message[6:], ">u2").reshape(256, 3)
    rgb = (colours >> 8).astype(np.uint8)[None]
    assert convert(rgb, BGR233).tolist() == [list(range(256))]
    assert colours[0].tolist() == [0, 0, 0]
    assert colours[255].tolist() == [65535, 65535, 65535]


def test_a_colour_map_client_is_served_bgr233() -> None:
    wire = struct.pack(">BBBBHHHBBB3x", 8, 8, 0, 0, 0, 0, 0, 0, 0, 0)
    assert PixelFormat.parse(wire).effective() == BGR233
