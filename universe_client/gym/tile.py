"""Many frames as one picture."""

from __future__ import annotations

import math

import numpy as np

from vnc.session import Frame


def tile(frames: Frame) -> Frame:
    """Return frames (n, height, width, 3) side by side, in as many columns as rows or one more; the rest is black."""
    n, height, width, channels = frames.shape
    columns = math.ceil(math.sqrt(n))
    rows = math.ceil(n / columns)
    padded = np.zeros((rows * columns, height, width, channels), frames.dtype)
    padded[:n] = frames
    grid = padded.reshape(rows, columns, height, width, channels).swapaxes(1, 2)
    return grid.reshape(rows * height, columns * width, channels)
