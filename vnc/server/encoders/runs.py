"""Runs of equal pixels and palettes, from which ZRLE and Tight choose their sub-encodings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vnc.pixels.pixel_format import Codes

_SAMPLE = 512  # pixels that are checked first; they suffice for most areas of many colours


@dataclass(frozen=True, slots=True)
class Runs:
    """The pixels of a rectangle as runs, row after row."""

    codes: Codes
    """The pixel of each run."""
    lengths: NDArray[np.intp]

    def palette(self, limit: int) -> Codes | None:
        """Return the distinct pixels in ascending order; None if there are more than `limit`."""
        if self.codes.size > 2 * _SAMPLE:
            sample = self.codes[:: self.codes.size // _SAMPLE]
            if np.unique(sample).size > limit:
                return None
        palette = np.unique(self.codes)
        return palette if palette.size <= limit else None

    def indices(self, palette: Codes) -> NDArray[np.uint8]:
        """Return the index of each run's pixel in `palette`."""
        return np.searchsorted(palette, self.codes).astype(np.uint8)


def find_runs(codes: Codes) -> Runs:
    """Return the runs of `codes`, row after row."""
    flat = codes.reshape(-1)
    edges = np.flatnonzero(flat[1:] != flat[:-1])
    bounds = np.empty(edges.size + 2, np.intp)
    bounds[0], bounds[-1] = 0, flat.size
    bounds[1:-1] = edges + 1
    return Runs(flat[bounds[:-1]], np.diff(bounds))


def pack_bits(indices: NDArray[np.unsignedinteger[Any]], bits: int) -> bytes:
    """Pack palette indices of shape (height, width) with 1, 2 or 4 bits each, highest bits first, rows padded."""
    if bits == 1:
        return np.packbits(indices, axis=1).tobytes()
    height, width = indices.shape
    per_byte = 8 // bits
    padded = np.zeros((height, -(-width // per_byte), per_byte), np.uint8)
    padded.reshape(height, -1)[:, :width] = indices
    packed = np.zeros(padded.shape[:2], np.uint8)
    for place in range(per_byte):
        packed |= padded[:, :, place] << (8 - bits * (place + 1))
    return packed.tobytes()
