"""Pixels of an X server become pixels of a frame, with the Rust core and without it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.drivers import needs_native
from vnc.pixels.bgrx import _with_numpy, bgrx_to_rgb

BOTH = pytest.mark.parametrize("convert", [bgrx_to_rgb, _with_numpy])


@BOTH
@given(
    seed=st.integers(0, 2**32 - 1),
    x=st.integers(0, 20),
    y=st.integers(0, 5),
    width=st.integers(1, 80),
    height=st.integers(1, 8),
)
def test_a_part_is_converted_and_nothing_else(convert, seed, x, y, width, height):
    random = np.random.default_rng(seed)
    source = random.integers(0, 256, (y + height, x + width, 4), dtype=np.uint8)
    target = random.integers(0, 256, (y + height + 1, x + width + 5, 3), dtype=np.uint8)
    expected = target.copy()
    expected[y : y + height, x : x + width] = source[y:, x:, 2::-1]
    convert(source[y:, x:], target[y : y + height, x : x + width])
    assert (target == expected).all()


@BOTH
@pytest.mark.parametrize("shape", [(4, 5, 4), (5, 4, 4), (4, 4, 3)])
def test_other_shapes_are_refused(convert, shape):
    with pytest.raises(ValueError, match="source"):
        convert(np.zeros(shape, np.uint8), np.zeros((4, 4, 3), np.uint8))


@needs_native
def test_pixels_that_are_not_consecutive_are_refused():
    """NumPy accepts them."""
    with pytest.raises(ValueError, match="not consecutive"):
        bgrx_to_rgb(np.zeros((4, 8, 4), np.uint8)[:, ::2], np.zeros((4, 4, 3), np.uint8))
    read_only = np.zeros((4, 4, 3), np.uint8)
    read_only.flags.writeable = False
    with pytest.raises(ValueError):
        bgrx_to_rgb(np.zeros((4, 4, 4), np.uint8), read_only)
