"""Pixels as X servers keep them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vnc.pixels.frame import Frame

__all__ = ["bgrx_to_rgb"]


def _with_numpy(source: NDArray[np.uint8], target: Frame) -> None:
    """Convert pixels; see `vnc._core.bgrx_to_rgb`."""
    if source.shape != (*target.shape[:2], 4):
        raise ValueError(f"source {source.shape} does not fit target {target.shape}")
    for channel in range(3):  # by channel: numpy copies rows of three bytes four times more slowly
        target[..., channel] = source[..., 2 - channel]


try:
    from vnc._core import bgrx_to_rgb
except ImportError:
    bgrx_to_rgb = _with_numpy
