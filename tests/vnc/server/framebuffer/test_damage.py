"""Damage: all changes are covered, by few rectangles inside the screen."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from vnc.server.framebuffer.damage import MAX_RECTS, TILE, Damage, Rect, merge
from vnc.server.framebuffer.screen import Screen


def covered(rects: list[Rect], width: int, height: int) -> np.ndarray:
    mask = np.zeros((height, width), np.bool_)
    for rect in rects:
        assert rect.width > 0 and rect.height > 0
        assert rect.x >= 0 and rect.x + rect.width <= width
        assert rect.y >= 0 and rect.y + rect.height <= height
        mask[rect.y : rect.y + rect.height, rect.x : rect.x + rect.width] = True
    return mask


SIZES = st.integers(1, 130)


@given(SIZES, SIZES, st.lists(st.tuples(st.integers(0, 200), st.integers(0, 200)), max_size=12))
def test_every_changed_pixel_is_inside_a_rect(width: int, height: int, points: list[tuple[int, int]]) -> None:
    screen, damage = Screen(width, height), Damage(width, height)
    assert covered(damage.take(screen.rect), width, height).all()
    frame = np.zeros((height, width, 3), np.uint8)
    for x, y in points:
        frame[y % height, x % width, (x + y) % 3] += 1
    grid = screen.present(frame)
    changed = frame.any(axis=2)
    assert (grid is None) == (not changed.any())
    if grid is not None:
        damage.add(grid)
    mask = covered(damage.take(screen.rect), width, height)
    assert mask[changed].all()
    assert damage.take(screen.rect) == []


@given(st.integers(0, 2**32), st.floats(0, 1))
def test_merged_rects_cover_exactly_the_tiles_unless_they_are_too_many(seed: int, share: float) -> None:
    grid = np.random.default_rng(seed).random((9, 11)) < share
    rects = merge(grid)
    assert len(rects) <= MAX_RECTS
    mask = covered(rects, 11, 9)
    assert mask[grid].all()
    if len(rects) > 1:
        assert (mask == grid).all()
        assert sum(rect.width * rect.height for rect in rects) == grid.sum()


def test_a_moving_sprite_is_one_rect_and_far_corners_are_two() -> None:
    grid = np.zeros((20, 20), np.bool_)
    grid[3:6, 4:9] = True
    assert merge(grid) == [Rect(4, 3, 5, 3)]
    grid[19, 19] = True
    assert sorted(merge(grid)) == [Rect(4, 3, 5, 3), Rect(19, 19, 1, 1)]


REGION = st.tuples(st.integers(0, 89), st.integers(0, 69), st.integers(1, 100), st.integers(1, 100))


@given(REGION)
def test_a_region_gets_all_its_damage_and_leaves_that_outside(region: tuple[int, int, int, int]) -> None:
    screen = Rect(0, 0, 90, 70)
    asked = Rect(*region).intersection(screen)
    assert asked is not None
    damage = Damage(90, 70)
    inside = covered(damage.take(asked), 90, 70)
    assert (inside == covered([asked], 90, 70)).all()
    rest = covered(damage.take(screen), 90, 70)
    assert (inside | rest).all(), "a pixel nobody was sent is still damaged"


def test_add_rect_marks_its_tiles_only() -> None:
    damage = Damage(100, 100)
    damage.take(Rect(0, 0, 100, 100))
    damage.add_rect(Rect(TILE + 1, TILE + 1, 1, 1))
    assert damage.take(Rect(0, 0, 100, 100)) == [Rect(TILE, TILE, TILE, TILE)]


def test_rects_intersect_and_unite() -> None:
    assert Rect(0, 0, 4, 4).intersection(Rect(4, 0, 4, 4)) is None
    assert Rect(0, 0, 4, 4).intersection(Rect(2, 3, 9, 9)) == Rect(2, 3, 2, 1)
    assert Rect(0, 0, 4, 4).union(Rect(6, 1, 1, 5)) == Rect(0, 0, 7, 6)
