"""Changed areas of the screen: a grid of tiles per reader, merged into few rectangles."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

TILE = 16
"""Tile side in pixels: 48 bytes of RGB, six 64-bit words, so that tiles are compared word by word."""

MAX_RECTS = 32
"""The most rectangles of an update; beyond it their bounding box is sent, because each rectangle costs time."""

Grid = NDArray[np.bool_]
"""One flag per tile, shape (rows, columns)."""

Part = tuple[slice, slice]
"""An area of an array: rows and columns."""


class Rect(NamedTuple):
    """An area of the screen, in pixels."""

    x: int
    y: int
    width: int
    height: int

    def intersection(self, other: Rect) -> Rect | None:
        """Return the area that both cover; None if they do not overlap."""
        x, y = max(self.x, other.x), max(self.y, other.y)
        right = min(self.x + self.width, other.x + other.width)
        bottom = min(self.y + self.height, other.y + other.height)
        return Rect(x, y, right - x, bottom - y) if right > x and bottom > y else None

    def union(self, other: Rect) -> Rect:
        """Return the smallest rectangle that contains both."""
        x, y = min(self.x, other.x), min(self.y, other.y)
        right = max(self.x + self.width, other.x + other.width)
        bottom = max(self.y + self.height, other.y + other.height)
        return Rect(x, y, right - x, bottom - y)


def tiles(length: int) -> int:
    """Return the number of tiles that cover `length` pixels."""
    return -(-length // TILE)


def changed_tiles(before: NDArray[np.uint64], after: NDArray[np.uint64]) -> Grid:
    """Return the tiles in which two frames differ, given as rows of words padded to whole tiles."""
    words = TILE * 3 // 8
    rows, columns = before.shape[0] // TILE, before.shape[1] // words
    different = np.empty(before.shape, np.bool_)
    np.not_equal(before, after, out=different)
    by_word = np.logical_or.reduce(different.reshape(rows, TILE, columns * words), axis=1)
    grid: Grid = np.logical_or.reduce(by_word.reshape(rows, columns, words), axis=2)
    return grid


def touched(screen: Rect, rects: Iterable[Rect]) -> Grid:
    """Return the tiles of `screen` that `rects`, inside it, touch."""
    grid: Grid = np.zeros((tiles(screen.height), tiles(screen.width)), np.bool_)
    for rect in rects:
        grid[_touched(rect)] = True
    return grid


def _touched(rect: Rect) -> Part:
    return (
        slice(rect.y // TILE, tiles(rect.y + rect.height)),
        slice(rect.x // TILE, tiles(rect.x + rect.width)),
    )


def merge(grid: Grid) -> list[Rect]:
    """Return few rectangles, in tiles, that cover the set tiles: runs of a row joined with equal runs above."""
    flags, columns = grid.tobytes(), grid.shape[1]
    if 0 not in flags:
        return [Rect(0, 0, columns, grid.shape[0])]
    finished: list[Rect] = []
    # The first and last row of each run, which may go on below.
    growing: dict[tuple[int, int], tuple[int, int]] = {}
    for y, start, end in _runs(flags, columns):
        top, bottom = growing.get((start, end), (y, y - 1))
        if bottom < y - 1:
            finished.append(Rect(start, top, end - start, bottom + 1 - top))
            top = y
        growing[start, end] = top, y
    last = [
        Rect(start, top, end - start, bottom + 1 - top) for (start, end), (top, bottom) in growing.items()
    ]
    return bounded(finished + last)


def _runs(flags: bytes, columns: int) -> Iterator[tuple[int, int, int]]:
    """Return the runs of set flags in rows: row, first column, and the column after the last.

    Searching so few bytes costs less than a single call of NumPy.
    """
    first = flags.find(1)
    while first >= 0:
        row = first // columns
        begin = row * columns
        end = flags.find(0, first, begin + columns)
        if end < 0:
            end = begin + columns
        yield row, first - begin, end - begin
        first = flags.find(1, end)


def bounded(rects: list[Rect]) -> list[Rect]:
    """Return the rectangles, or their bounding box if they are more than `MAX_RECTS`."""
    if len(rects) <= MAX_RECTS:
        return rects
    box = rects[0]
    for rect in rects[1:]:
        box = box.union(rect)
    return [box]


class Damage:
    """The tiles that one client has not received yet."""

    def __init__(self, width: int, height: int) -> None:
        self._screen = Rect(0, 0, width, height)
        self._grid: Grid = np.ones((tiles(height), tiles(width)), np.bool_)

    def add(self, grid: Grid) -> None:
        """Mark the set tiles."""
        self._grid |= grid

    def add_rect(self, rect: Rect) -> None:
        """Mark every tile that `rect`, inside the screen, touches."""
        self._grid[_touched(rect)] = True

    def take(self, region: Rect) -> list[Rect]:
        """Return the changed rectangles inside `region`, and mark them as sent; `region` is inside the screen."""
        rows, columns = _touched(region)
        merged = merge(self._grid[rows, columns])
        if not merged:
            return []
        x, y = columns.start * TILE, rows.start * TILE
        rects = [
            Rect(x + tile.x * TILE, y + tile.y * TILE, tile.width * TILE, tile.height * TILE)
            for tile in merged
        ]
        self._grid[self._inside(region)] = False
        clipped = (rect.intersection(region) for rect in rects)
        return [rect for rect in clipped if rect is not None]

    def _inside(self, region: Rect) -> tuple[slice, slice]:
        """Return the tiles that lie completely in `region`; tiles may extend beyond the edge of the screen."""
        right, bottom = region.x + region.width, region.y + region.height
        return (
            slice(tiles(region.y), tiles(bottom) if bottom == self._screen.height else bottom // TILE),
            slice(tiles(region.x), tiles(right) if right == self._screen.width else right // TILE),
        )


def around(parts: Sequence[Part]) -> Part:
    """Return the smallest part that contains all `parts`, of which there is at least one."""
    rows, columns = zip(*parts, strict=True)
    return _hull(rows), _hull(columns)


def _hull(slices: Sequence[slice]) -> slice:
    return slice(min(each.start for each in slices), max(each.stop for each in slices))
