"""Encoders: a plain decoder reproduces every frame of a connection."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.vnc.rfb_client import Pixels, TightDecoder, ZRLEDecoder
from vnc.pixels.pixel_format import BGR233, RGBX, PixelFormat, convert
from vnc.server.encoders import ENCODERS, RAW, TIGHT, ZRLE, preferred
from vnc.server.encoders.runs import find_runs
from vnc.server.encoders.tight import TightEncoder, _compact_length
from vnc.server.encoders.zrle import ZRLEEncoder
from vnc.server.framebuffer.damage import Rect
from vnc.server.framebuffer.screen import Screen

Frame = NDArray[np.uint8]

# A format, and which bytes of its pixels make a CPIXEL and a TPIXEL (None: red, green, blue).
FORMATS: list[tuple[PixelFormat, slice, slice | None]] = [
    (RGBX, slice(0, 3), None),
    (PixelFormat(32, 24, False, True, 255, 255, 255, 16, 8, 0), slice(0, 3), None),
    (PixelFormat(32, 24, True, True, 255, 255, 255, 16, 8, 0), slice(1, 4), None),
    (PixelFormat(32, 24, False, True, 255, 255, 255, 24, 16, 8), slice(1, 4), None),
    (PixelFormat(32, 32, False, True, 255, 255, 255, 16, 8, 0), slice(0, 4), slice(0, 4)),
    (PixelFormat(32, 24, True, True, 1023, 1023, 1023, 20, 10, 0), slice(0, 4), slice(0, 4)),
    (PixelFormat(16, 16, False, True, 31, 63, 31, 11, 5, 0), slice(0, 2), slice(0, 2)),
    (PixelFormat(16, 16, True, True, 31, 63, 31, 11, 5, 0), slice(0, 2), slice(0, 2)),
    (BGR233, slice(0, 1), slice(0, 1)),
]


@st.composite
def frames(draw: st.DrawFn) -> Frame:
    """Flat, few-coloured, striped and noisy pictures, one for each sub-encoding."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    width, height = draw(st.integers(1, 140)), draw(st.integers(1, 70))
    colours = draw(st.sampled_from([1, 2, 3, 4, 5, 16, 17, 60, 127, 128, 256, 257, 20000]))
    palette = rng.integers(0, 256, (colours, 3), dtype=np.uint8)
    run = draw(st.sampled_from([1, 2, 7, 60, 300, 1000]))
    runs = rng.integers(0, colours, width * height // run + 1)
    return palette[np.repeat(runs, run)[: width * height]].reshape(height, width, 3)


def pixels(rgb: Frame, pixel_format: PixelFormat, part: slice | None) -> Pixels:
    if part is None:
        return [[bytes(pixel) for pixel in row] for row in rgb.tolist()]
    size = pixel_format.bits_per_pixel // 8
    whole = [row.tobytes() for row in convert(rgb, pixel_format)]
    return [[row[at : at + size][part] for at in range(0, len(row), size)] for row in whole]


def show(frame: Frame) -> Screen:
    screen = Screen(frame.shape[1], frame.shape[0])
    screen.present(frame)
    return screen


@settings(max_examples=60)
@given(st.lists(frames(), min_size=1, max_size=3), st.sampled_from(FORMATS))
def test_zrle_comes_back(shown: list[Frame], row: tuple[PixelFormat, slice, slice | None]) -> None:
    pixel_format, part, _ = row
    encoder, decoder = ZRLEEncoder(), ZRLEDecoder(len(range(*part.indices(4))))
    for frame in shown:
        screen = show(frame)
        ((rect, payload),) = encoder.encode(screen, screen.rect, pixel_format)
        assert int.from_bytes(payload[:4], "big") == len(payload) - 4
        assert decoder.decode(bytes(payload[4:]), rect.width, rect.height) == pixels(
            frame, pixel_format, part
        )


@settings(max_examples=60)
@given(st.lists(frames(), min_size=1, max_size=3), st.sampled_from(FORMATS))
def test_tight_comes_back(shown: list[Frame], row: tuple[PixelFormat, slice, slice | None]) -> None:
    pixel_format, _, part = row
    encoder, decoder = TightEncoder(), TightDecoder(3 if part is None else len(range(*part.indices(4))))
    for frame in shown:
        screen = show(frame)
        ((rect, payload),) = encoder.encode(screen, screen.rect, pixel_format)
        decoded = decoder.decode(bytes(payload), rect.width, rect.height)
        assert decoded == pixels(frame, pixel_format, part)


def streaks(colours: int, run: int) -> Frame:
    rng = np.random.default_rng(colours)
    palette = rng.permutation(2**16)[:colours, None] // np.array([1, 256, 7]) % 256
    picked = np.concatenate([np.arange(colours), rng.integers(0, colours, 64 * 64)])
    return palette.astype(np.uint8)[np.repeat(picked, run)[: 64 * 64]].reshape(64, 64, 3)


@pytest.mark.parametrize(
    ("colours", "run", "kind"),
    [(1, 1, 1), (2, 1, 2), (4, 1, 4), (16, 1, 16), (60, 1, 188), (16, 200, 128), (127, 5, 255), (4000, 1, 0)],
)
def test_zrle_picks_the_sub_encoding_that_fits(colours: int, run: int, kind: int) -> None:
    screen = show(streaks(colours, run))
    decoder = ZRLEDecoder(3)
    ((_, payload),) = ZRLEEncoder().encode(screen, screen.rect, RGBX)
    decoder.decode(bytes(payload[4:]), 64, 64)
    assert decoder.sub_encodings == {kind}


@pytest.mark.parametrize(
    ("colours", "kind"), [(1, "fill"), (2, "mono"), (3, "palette"), (256, "palette"), (257, "copy")]
)
def test_tight_picks_the_kind_that_fits(colours: int, kind: str) -> None:
    screen = show(streaks(colours, 1))
    decoder = TightDecoder(3)
    for rect, payload in TightEncoder().encode(screen, screen.rect, RGBX):
        decoder.decode(bytes(payload), rect.width, rect.height)
    assert decoder.kinds == {kind}


def test_tight_parts_are_small_and_make_up_the_rect() -> None:
    screen = Screen(2500, 300)
    decoder = TightDecoder(3)
    seen = np.zeros((300, 2500), int)
    for rect, payload in TightEncoder().encode(screen, Rect(100, 20, 2300, 270), RGBX):
        assert rect.width <= 2048 and rect.width * rect.height <= 65536
        decoder.decode(bytes(payload), rect.width, rect.height)
        seen[rect.y : rect.y + rect.height, rect.x : rect.x + rect.width] += 1
    assert (seen[20:290, 100:2400] == 1).all() and seen.sum() == 2300 * 270


@pytest.mark.parametrize("length", [0, 127, 128, 16383, 16384, 100_000, 2**22 - 1])
def test_compact_lengths_read_back(length: int) -> None:
    encoded = _compact_length(length)
    value = sum((byte & (0x7F if at < 2 else 0xFF)) << 7 * at for at, byte in enumerate(encoded))
    assert value == length
    assert len(encoded) == 1 + (length > 127) + (length > 16383)


def test_raw_is_the_window() -> None:
    frame = np.random.default_rng(5).integers(0, 256, (40, 50, 3), dtype=np.uint8)
    screen, rect = show(frame), Rect(7, 9, 20, 10)
    ((_, payload),) = ENCODERS[RAW]().encode(screen, rect, FORMATS[1][0])
    back = np.frombuffer(payload, np.uint8).reshape(10, 20, 4)
    assert (back[..., 2::-1] == frame[9:19, 7:27]).all()


def test_runs_add_up() -> None:
    runs = find_runs(np.array([[3, 3, 5], [5, 5, 3]], np.uint32))
    assert runs.codes.tolist() == [3, 5, 3]
    assert runs.lengths.tolist() == [2, 3, 1]


def test_the_first_encoding_we_speak_is_taken() -> None:
    assert preferred([1, 5, ZRLE, TIGHT, RAW]) == ZRLE
    assert preferred([-239, 6, TIGHT]) == TIGHT
    assert preferred([6]) == RAW
    assert preferred([]) == RAW
