"""Smaller pictures of frames: equal to OpenCV's, and the same in Rust and in numpy."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.drivers import needs_native
from vnc.pixels.reduction import Reduction

SIDES = st.integers(1, 60)


@st.composite
def reductions(draw):
    """Frames of noise, and reductions of them."""
    height, width = draw(SIDES), draw(SIDES)
    grey = draw(st.booleans())
    reduction = Reduction.whole((height, width, 3 if grey else draw(st.integers(1, 4))))
    if draw(st.booleans()):
        x, y = draw(st.integers(0, width - 1)), draw(st.integers(0, height - 1))
        reduction = reduction.crop(x, y, draw(st.integers(1, width - x)), draw(st.integers(1, height - y)))
    if draw(st.booleans()):
        reduction = reduction.resize(draw(SIDES), draw(SIDES))
    if grey:
        reduction = reduction.to_grey()
    noise = np.random.default_rng(draw(st.integers(0, 9))).integers(0, 256, reduction.source, np.uint8)
    return noise, reduction


def _drawn(reduction, frame, draw):
    out = np.full(reduction.shape, 99, np.uint8)
    draw(frame, out)
    return out


@needs_native
@settings(deadline=None)
@given(reductions())
def test_rust_and_numpy_draw_the_same(given):
    frame, reduction = given
    drawn = [_drawn(reduction, frame, draw) for draw in (reduction.native.draw, reduction._draw)]
    assert np.array_equal(*drawn)


@settings(deadline=None)
@given(reductions(), st.booleans())
def test_a_picture_is_opencvs_within_one(given, grey_first):
    frame, reduction = given
    x, y, width, height = reduction.part
    # OpenCV averages areas only if neither side grows.
    reduction = reduction.resize(min(width, reduction.size[0]), min(height, reduction.size[1]))
    expected = np.ascontiguousarray(frame[y : y + height, x : x + width])
    if reduction.grey and grey_first:
        expected = cv2.cvtColor(expected, cv2.COLOR_RGB2GRAY)
    if reduction.is_resized:
        expected = cv2.resize(expected, reduction.size, interpolation=cv2.INTER_AREA)
    if reduction.grey and not grey_first:
        expected = cv2.cvtColor(expected, cv2.COLOR_RGB2GRAY)
    picture = _drawn(reduction, frame, reduction.draw)
    difference = picture.astype(int) - expected.reshape(picture.shape)
    assert np.abs(difference).max() <= 1


@pytest.mark.parametrize(
    ("shape", "size"), [((768, 1024, 3), (84, 84)), ((210, 160, 3), (84, 84)), ((240, 320, 3), (84, 84))]
)
def test_screens_of_games_are_opencvs_within_one(shape, size):
    frame = np.random.default_rng(1).integers(0, 256, shape, np.uint8)
    reduction = Reduction.whole(shape).resize(*size).to_grey()
    grey = cv2.cvtColor(frame, cv2.COLOR_RGB2GRAY)
    expected = cv2.resize(grey, size, interpolation=cv2.INTER_AREA)[..., None]
    for draw in (reduction.draw, reduction._draw):
        assert np.abs(_drawn(reduction, frame, draw).astype(int) - expected).max() <= 1


@settings(deadline=None)
@given(st.integers(0, 255), SIDES, SIDES, SIDES, SIDES)
def test_an_even_frame_stays_even(value, width, height, new_width, new_height):
    reduction = Reduction.whole((height, width, 3)).resize(new_width, new_height).to_grey()
    frame = np.full(reduction.source, value, np.uint8)
    for draw in (reduction.draw, reduction._draw):
        assert (_drawn(reduction, frame, draw) == value).all()


@needs_native
def test_an_array_of_another_shape_is_refused():
    reduction = Reduction.whole((30, 40, 3)).resize(8, 8)
    frame, out = np.zeros((30, 40, 3), np.uint8), np.zeros((8, 8, 3), np.uint8)
    reduction.draw(np.asfortranarray(frame), out)
    for wrong in [(frame[:29], out), (frame, out[:7]), (frame, np.asfortranarray(out))]:
        with pytest.raises(ValueError, match=r"shape|contiguous"):
            reduction.draw(*wrong)
    with pytest.raises(ValueError, match="cannot become"):
        Reduction((30, 40, 3), (0, 0, 41, 30), (8, 8)).native  # noqa: B018
