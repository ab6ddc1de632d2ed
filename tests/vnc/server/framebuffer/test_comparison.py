"""Frames are copied, and their changes found, with the same result by the Rust core and by NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from vnc import _core
from vnc.server.framebuffer.comparison import copy_frame, copy_with_numpy
from vnc.server.framebuffer.ring import Ring, private_ring


@st.composite
def pairs(draw: st.DrawFn) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """A frame, and another in which a few bytes differ; some are views that are not contiguous."""
    width, height = draw(st.integers(1, 100)), draw(st.integers(1, 60))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    old = rng.integers(0, 256, (height, width, 3), np.uint8)
    new = old.copy()
    for at in draw(st.lists(st.integers(0, old.size - 1), max_size=6)):
        new.reshape(-1)[at] ^= 1
    return old, np.asfortranarray(new) if draw(st.booleans()) else new


def with_frame(frame: NDArray[np.uint8]) -> Ring:
    ring = private_ring(frame.shape[1], frame.shape[0])
    ring.newest.rgb[...] = frame
    ring.spare().rgb[...] = 77
    return ring


@settings(deadline=None)
@given(pairs())
def test_the_core_and_numpy_find_the_same(pair: tuple[NDArray[np.uint8], NDArray[np.uint8]]) -> None:
    old, new = pair
    changed = (old != new).any(axis=2)
    for copy in (copy_frame, copy_with_numpy):
        ring = with_frame(old)
        grid = copy(new, ring.newest.rows, ring.spare().rows)
        assert (ring.spare().rgb == new).all()
        assert (grid is None) == (not changed.any())
        if grid is not None:
            expected = {(y // 16, x // 16) for y, x in np.argwhere(changed).tolist()}
            assert set(map(tuple, np.argwhere(grid).tolist())) == expected
            assert grid.dtype == np.bool_


def test_wrong_arrays_are_refused() -> None:
    frame, buffer, small = (np.zeros(shape, np.uint8) for shape in ((20, 30, 3), (32, 96), (16, 96)))
    for wrong in (
        (frame[:, :, :2], buffer, buffer.copy()),
        (frame[:0], small[:0], small[:0].copy()),
        (frame, small, buffer),
        (frame, buffer, small),
        (frame, buffer, np.zeros((96, 32), np.uint8).T),
        (np.asfortranarray(frame), buffer, buffer.copy()),
    ):
        with pytest.raises(ValueError, match=r"shape|C-contiguous"):
            _core.copy_frame(*wrong)
