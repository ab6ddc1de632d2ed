"""What counts as rest: frames of 40x40 pixels, which are 3x3 tiles, the last row and column incomplete."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from universe_client.hands.motion import RESTLESS_AFTER, Motion, clusters
from vnc.server.framebuffer.damage import Rect

QUIET = 0.1


def blank() -> np.ndarray:
    return np.zeros((40, 40, 3), np.uint8)


def dotted(*places: tuple[int, int], value: int) -> np.ndarray:
    frame = blank()
    for x, y in places:
        frame[y, x] = value
    return frame


def moving(
    motion: Motion, seconds: float, *places: tuple[int, int], start: float = 0.0, pause: float = 0.02
) -> float:
    """Change pixels every `pause` seconds; return the moment of the last change."""
    moment = start
    for number in range(round(seconds / pause) + 1):
        moment = start + number * pause
        motion.see(dotted(*places, value=1 + number % 200), moment, QUIET)
        motion.rest(moment, QUIET)
    return moment


def test_equal_frames_are_rest():
    motion = Motion(blank(), 0.0)
    motion.see(blank(), 1.0, QUIET)
    assert motion.rest(1.0, QUIET) == -np.inf
    assert motion.changed() is None and motion.restless == []


def test_the_newest_change_counts():
    motion = Motion(blank(), 0.0)
    motion.see(dotted((3, 3), value=1), 1.0, QUIET)
    motion.see(dotted((3, 3), (39, 39), value=1), 2.0, QUIET)
    assert motion.rest(2.0, QUIET) == 2.0
    assert motion.rest(2.0, QUIET, motion.grid([Rect(35, 35, 1, 1)])) == 1.0


def test_what_moves_without_a_pause_is_restless_and_the_rest_is_waited_for():
    motion = Motion(blank(), 0.0)
    motion.begin(0.0)
    moment = moving(motion, RESTLESS_AFTER - 0.1, (3, 3))
    assert motion.rest(moment, QUIET) == moment and motion.restless == []
    moment = moving(motion, 0.2, (3, 3), start=moment + 0.02)
    assert motion.rest(moment, QUIET) == -np.inf
    assert motion.restless == [Rect(0, 0, 16, 16)]
    motion.see(dotted((3, 3), (39, 0), value=250), moment + 0.05, QUIET)
    assert motion.rest(moment + 0.05, QUIET) == moment + 0.05


def test_pauses_of_the_quiet_span_are_rest():
    """A cursor that blinks twice a second, for example."""
    motion = Motion(blank(), 0.0)
    motion.begin(0.0)
    moment = moving(motion, 10.0, (3, 3), pause=0.5)
    assert motion.rest(moment, QUIET) == moment and motion.restless == []


def test_a_restless_region_stays_so_until_it_rests_during_a_wait():
    motion = Motion(blank(), 0.0)
    motion.begin(0.0)
    moment = moving(motion, 2.0, (3, 3))
    motion.begin(moment + 30.0)  # thirty seconds later the video still plays
    moment = moving(motion, 0.1, (3, 3), start=moment + 30.0)
    assert motion.rest(moment, QUIET) == -np.inf and len(motion.restless) == 1
    motion.begin(moment + 30.0)
    motion.begin(moment + 31.0)  # it did not move in the wait before
    motion.see(dotted((3, 3), value=77), moment + 31.0, QUIET)
    assert motion.rest(moment + 31.0, QUIET) == moment + 31.0


@pytest.mark.parametrize("place", [(0, 0), (17, 3), (39, 39), (32, 16)])
def test_changed_is_the_tile_clipped_to_the_screen(place):
    motion = Motion(blank(), 0.0)
    motion.mark()
    motion.see(dotted(place, value=9), 1.0, QUIET)
    x, y = (16 * (side // 16) for side in place)
    assert motion.changed() == Rect(x, y, min(16, 40 - x), min(16, 40 - y))
    motion.see(blank(), 2.0, QUIET)
    assert motion.changed() is None, "it is as before"


PLACES = st.tuples(st.integers(0, 39), st.integers(0, 39))


@given(st.lists(st.tuples(PLACES, st.floats(0.001, 2.0)), max_size=30))
def test_changed_contains_every_changed_pixel_and_rest_is_never_later_than_the_newest_change(changes):
    motion, frame, moment, newest = Motion(blank(), 0.0), blank(), 0.0, -np.inf
    motion.mark()
    motion.begin(0.0)
    for (x, y), pause in changes:
        moment += pause
        frame[y, x] += 1
        motion.see(frame, moment, QUIET)
        newest = moment
        assert motion.rest(moment, QUIET) <= newest
    different = np.argwhere(frame.any(axis=2))
    box = motion.changed()
    assert (box is None) == (len(different) == 0)
    if box is not None:
        assert all(box.x <= x < box.x + box.width and box.y <= y < box.y + box.height for y, x in different)


def test_rectangles_side_by_side_are_one():
    assert clusters(
        [Rect(0, 0, 16, 16), Rect(64, 0, 16, 16), Rect(16, 16, 16, 16), Rect(32, 32, 16, 16)]
    ) == [
        Rect(64, 0, 16, 16),
        Rect(0, 0, 48, 48),
    ]
