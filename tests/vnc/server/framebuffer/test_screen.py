"""The screen: shapes, unchanged frames, and shared conversions."""

from __future__ import annotations

import numpy as np
import pytest

from vnc.pixels.pixel_format import BGR233, RGBX
from vnc.server.framebuffer.damage import Rect
from vnc.server.framebuffer.screen import Screen


def test_another_shape_or_type_is_the_callers_mistake() -> None:
    screen = Screen(30, 20)
    for frame in (
        np.zeros((30, 20, 3), np.uint8),
        np.zeros((20, 30, 4), np.uint8),
        np.zeros((20, 30, 3), np.int8),
    ):
        with pytest.raises(ValueError, match="a frame of this screen"):
            screen.present(frame)


def test_the_frame_is_copied_and_an_equal_one_changes_nothing() -> None:
    screen, frame = Screen(30, 20), np.full((20, 30, 3), 7, np.uint8)
    assert screen.present(frame) is not None
    assert screen.present(frame.copy()) is None
    frame[:] = 9
    assert (screen.rgb(screen.rect) == 7).all()


def test_one_changed_byte_marks_one_tile() -> None:
    screen, frame = Screen(64, 48), np.zeros((48, 64, 3), np.uint8)
    frame[47, 63, 2] = 1
    grid = screen.present(frame)
    assert grid is not None
    assert np.argwhere(grid).tolist() == [[2, 3]]


def test_conversions_are_shared_until_the_next_frame() -> None:
    screen, rect = Screen(30, 20), Rect(1, 2, 5, 6)
    frame = np.zeros((20, 30, 3), np.uint8)
    first = screen.codes(rect, RGBX)
    assert screen.codes(rect, RGBX) is first
    assert not first.flags.writeable
    frame[:] = 200
    screen.present(frame)
    assert screen.codes(rect, RGBX) is not first
    assert not first.any(), "what was handed out does not change"


def test_the_cache_is_bounded() -> None:
    screen = Screen(200, 200)
    for x in range(199):
        screen.codes(Rect(x, 0, 1, 1), BGR233)
    assert len(screen._cache) <= 16


def test_non_contiguous_frames_are_taken() -> None:
    screen = Screen(30, 20)
    wide = np.random.default_rng(3).integers(0, 256, (40, 60, 3), dtype=np.uint8)
    screen.present(wide[::2, ::-2])
    assert (screen.rgb(screen.rect) == wide[::2, ::-2]).all()
