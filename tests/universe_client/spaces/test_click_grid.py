"""ClickGrid: clicks by number."""

from __future__ import annotations

import pytest
from gymnasium.spaces import Discrete

from universe_client.errors import ConfigError
from universe_client.spaces.click_grid import ClickGrid
from vnc.events import PointerEvent

NOTHING = ((), None)


def test_the_points_are_the_middles_of_squares_row_by_row():
    grid = ClickGrid(step=10)
    assert grid.points(25, 20) == [(5, 5), (15, 5), (5, 15), (15, 15)]
    assert grid.space(25, 20) == Discrete(4)
    assert grid.events(1, NOTHING, (25, 20)) == [
        PointerEvent(15, 5, 0),
        PointerEvent(15, 5, 1),
        PointerEvent(15, 5, 0),
    ]


def test_only_the_region_is_clicked_and_its_holes_are_not():
    grid = ClickGrid((100, 50, 40, 40), step=20, no_click_regions=[(100, 50, 20, 20), (0, 0, 10, 10)])
    assert grid.points(320, 240) == [(130, 60), (110, 80), (130, 80)]
    assert all(x < 120 for x, _ in grid.points(120, 240))


def test_nothing_to_click_on_and_no_such_point_are_errors():
    with pytest.raises(ConfigError, match="no point to click on, on a screen of 50x50"):
        ClickGrid((100, 50, 40, 40)).space(50, 50)
    with pytest.raises(ConfigError, match="step=0"):
        ClickGrid(step=0)
    with pytest.raises(ConfigError, match=r"action 4 is not within 0\.\.3"):
        ClickGrid().events(4, NOTHING, (20, 20))
