"""Several frames in one image."""

from __future__ import annotations

import math

import numpy as np

from vnc.session import Frame


def tile(frames: Frame) -> Frame:
    """Return frames side by side in one image, row by row; unused tiles are black.

    Args:
        frames: uint8 (n, height, width, 3).

    Returns:
        uint8 (rows * height, columns * width, 3), where `columns` is the square root of `n`, rounded up.
    """
    n, height, width, channels = frames.shape
    columns = math.ceil(math.sqrt(n))
    rows = math.ceil(n / columns)
    padded = np.zeros((rows * columns, height, width, channels), frames.dtype)
    padded[:n] = frames
    grid = padded.reshape(rows, columns, height, width, channels).swapaxes(1, 2)
    return grid.reshape(rows * height, columns * width, channels)
