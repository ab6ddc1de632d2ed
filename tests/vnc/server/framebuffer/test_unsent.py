"""The Rust core and Python send the same areas."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vnc._core import Damage as NativeUnsent
from vnc.server.framebuffer.damage import Rect, tiles
from vnc.server.framebuffer.unsent import RECT, PythonUnsent, Unsent

SIDES = st.integers(1, 700)
AREAS = st.tuples(st.integers(0, 699), st.integers(0, 699), st.integers(1, 700), st.integers(1, 700))
TAIL = b"tail"
both = pytest.mark.parametrize("make", [NativeUnsent, PythonUnsent])


def areas(taken: bytes) -> list[tuple[int, ...]]:
    parts = list(struct.iter_unpack(f">HHHH{len(TAIL)}s", taken))
    assert all(part[4] == TAIL for part in parts)
    return sorted(part[:4] for part in parts)


def test_the_server_uses_the_core() -> None:
    assert Unsent is NativeUnsent


@settings(deadline=None)
@given(
    SIDES,
    SIDES,
    st.lists(st.tuples(st.sampled_from(["grid", "rect", "take"]), AREAS, st.floats(0, 1)), max_size=8),
    st.integers(0, 2**32),
)
def test_both_send_the_same(
    width: int, height: int, acts: list[tuple[str, tuple[int, int, int, int], float]], seed: int
) -> None:
    screen, dice = Rect(0, 0, width, height), np.random.default_rng(seed)
    native, python = NativeUnsent(width, height), PythonUnsent(width, height)
    for what, area, share in acts:
        inside = Rect(*area).intersection(screen)
        if what == "grid":
            grid = dice.random((tiles(height), tiles(width))) < share**3
            native.add(grid)
            python.add(grid)
        elif inside is None:
            continue
        elif what == "rect":
            native.add_rect(inside)
            python.add_rect(inside)
        else:
            assert areas(native.take(inside, TAIL)) == areas(python.take(inside, TAIL))
    assert areas(native.take(screen, TAIL)) == areas(python.take(screen, TAIL))
    assert native.take(screen, TAIL) == python.take(screen, TAIL) == b""


@both
def test_a_new_client_has_received_nothing(make: Any) -> None:
    assert make(100, 50).take(Rect(0, 0, 100, 50), b"") == RECT.pack(0, 0, 100, 50)


@both
def test_the_largest_screen_has_no_overflow(make: Any) -> None:
    unsent = make(16384, 16384)
    assert unsent.take(Rect(16383, 16383, 1, 1), b"") == RECT.pack(16383, 16383, 1, 1)
    unsent.add_rect(Rect(16380, 0, 4, 16384))
    assert unsent.take(Rect(0, 0, 16384, 16384), b"") == RECT.pack(0, 0, 16384, 16384)


def test_areas_outside_the_screen_do_not_count() -> None:
    unsent = NativeUnsent(40, 40)
    unsent.take((0, 0, 65535, 65535), b"")
    unsent.add_rect((50, 50, 65535, 65535))
    unsent.add_rect((39, 39, 65535, 65535))
    assert unsent.take((65535, 0, 1, 1), b"") == b""
    assert unsent.take((0, 0, 65535, 65535), b"") == RECT.pack(32, 32, 8, 8)


def test_a_wrong_grid_and_an_empty_screen_are_refused() -> None:
    with pytest.raises(ValueError, match="3 flags for 4 tiles"):
        NativeUnsent(32, 32).add(np.ones((1, 3), np.bool_))
    with pytest.raises(ValueError, match="no tiles"):
        NativeUnsent(0, 32)
