"""Changed areas of the screen: a grid of tiles per reader, merged into few rectangles."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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
    if grid.all():
        return [Rect(0, 0, grid.shape[1], grid.shape[0])]
    padded = np.zeros((grid.shape[0], grid.shape[1] + 2), np.int8)
    padded[:, 1:-1] = grid
    edges = np.argwhere(np.diff(padded, axis=1)).tolist()
    finished: list[Rect] = []
    growing: dict[tuple[int, int], Rect] = {}
    for (y, start), (_, end) in zip(edges[::2], edges[1::2], strict=True):
        above = growing.get((start, end))
        if above is not None and above.y + above.height == y:
            growing[start, end] = above._replace(height=above.height + 1)
            continue
        if above is not None:
            finished.append(above)
        growing[start, end] = Rect(start, y, end - start, 1)
    return bounded([*finished, *growing.values()])


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
        grid = self._grid[rows, columns]
        if not grid.any():
            return []
        x, y = columns.start * TILE, rows.start * TILE
        rects = [
            Rect(x + tile.x * TILE, y + tile.y * TILE, tile.width * TILE, tile.height * TILE)
            for tile in merge(grid)
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
