"""Which parts of a screen move: what has changed since an act, what has come to rest, and what never rests."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from vnc.server.framebuffer.comparison import copy_frame
from vnc.server.framebuffer.damage import TILE, Grid, Rect, merge, tiles, touched
from vnc.session import Frame

RESTLESS_AFTER = 1.0
"""Seconds of movement, without a pause as long as the quiet span, after which a tile counts as restless. Animations of
windows and scrolling pages are shorter."""


class Motion:
    """Compares frames of one screen, tile by tile (16x16 pixels). It has no clock: it is told moments, in seconds."""

    def __init__(self, frame: Frame, moment: float) -> None:
        """Begin with a frame on which nothing moves."""
        height, width, _ = self.shape = frame.shape
        self.screen = Rect(0, 0, width, height)
        padded = tiles(height) * TILE, tiles(width) * TILE * 3
        self._newest, self._spare = np.zeros(padded, np.uint8), np.zeros(padded, np.uint8)
        copy_frame(frame, self._spare, self._newest)
        self._marked = self._newest.copy()
        grid = tiles(height), tiles(width)
        self._since = np.full(grid, np.inf)  # when a tile began to move
        self._last = np.full(grid, -np.inf)  # when it changed last
        self._restless = np.zeros(grid, np.bool_)
        self._began = moment

    def begin(self, moment: float) -> None:
        """Begin a wait: restless tiles that did not change during the wait before are not restless any more."""
        self._restless &= self._last >= self._began
        self._began = moment

    def see(self, frame: Frame, moment: float, quiet: float) -> None:
        """Compare a newer frame of the same shape, complete at `moment`. A pause of `quiet` ends a tile's movement."""
        changed = copy_frame(frame, self._newest, self._spare)
        if changed is None:
            return
        self._newest, self._spare = self._spare, self._newest
        self._since[changed & (moment - self._last >= quiet)] = moment
        self._last[changed] = moment

    def rest(self, moment: float, quiet: float, ignored: Grid | None = None) -> float:
        """Return when the screen changed last, -inf for never; restless and ignored tiles do not count."""
        lasting = self._last - self._since >= max(RESTLESS_AFTER, 3 * quiet)
        self._restless |= lasting & (moment - self._last < quiet)
        counted = ~self._restless if ignored is None else ~(self._restless | ignored)
        return float(self._last.max(where=counted, initial=-np.inf))

    @property
    def restless(self) -> list[Rect]:
        """The restless regions that have changed since the wait began."""
        return clusters(self._rectangles(self._restless & (self._last >= self._began)))

    def mark(self) -> None:
        """Remember the newest frame, for `changed`."""
        self._marked[...] = self._newest

    def changed(self) -> Rect | None:
        """Return the rectangle around the tiles that differ from the marked frame; None if there are none."""
        height, width, _ = self.shape
        newest = self._newest.reshape(self._newest.shape[0], -1, 3)[:height, :width]
        grid = copy_frame(newest, self._marked, self._spare)
        return None if grid is None else _around(self._rectangles(grid))

    def grid(self, rects: Iterable[Rect]) -> Grid:
        """Return the tiles that `rects` touch."""
        inside = (rect.intersection(self.screen) for rect in rects)
        return touched(self.screen, [rect for rect in inside if rect is not None])

    def _rectangles(self, grid: Grid) -> list[Rect]:
        in_pixels = (Rect(*(TILE * side for side in rect)) for rect in merge(grid))
        return [part for rect in in_pixels if (part := rect.intersection(self.screen)) is not None]


def clusters(rects: list[Rect]) -> list[Rect]:
    """Join rectangles that overlap or lie side by side."""
    joined: list[Rect] = []
    for rect in rects:
        near = [each for each in joined if _are_near(each, rect)]
        joined = [each for each in joined if each not in near]
        joined.append(_around([rect, *near]))
    return joined if len(joined) == len(rects) else clusters(joined)


def _are_near(one: Rect, other: Rect) -> bool:
    x, y, width, height = one
    return Rect(x - TILE, y - TILE, width + 2 * TILE, height + 2 * TILE).intersection(other) is not None


def _around(rects: list[Rect]) -> Rect:
    box, *others = rects
    for rect in others:
        box = box.union(rect)
    return box
