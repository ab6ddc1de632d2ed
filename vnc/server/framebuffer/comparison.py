"""Copying a frame into a buffer, and finding the tiles that have changed: one pass of the Rust core, or NumPy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vnc.server.framebuffer.damage import Grid, changed_tiles
from vnc.session import Frame


def copy_with_numpy(frame: Frame, before: NDArray[np.uint8], after: NDArray[np.uint8]) -> Grid | None:
    """Do what `copy_frame` does."""
    height, width, _ = frame.shape
    after.reshape(after.shape[0], -1, 3)[:height, :width] = frame
    grid = changed_tiles(before.view(np.uint64), after.view(np.uint64))
    return grid if grid.any() else None


try:
    from vnc._core import copy_frame as _copy_contiguous
except ImportError:  # no Rust core, as on a machine without Rust
    _copy_contiguous = copy_with_numpy


def copy_frame(frame: Frame, before: NDArray[np.uint8], after: NDArray[np.uint8]) -> Grid | None:
    """Copy `frame` to `after`, and return the tiles in which it differs from `before`; None if there are none.

    The buffers have padded rows, of shape (16 * tile rows, 48 * tile columns); the padding is zero.
    """
    return _copy_contiguous(np.ascontiguousarray(frame), before, after)
