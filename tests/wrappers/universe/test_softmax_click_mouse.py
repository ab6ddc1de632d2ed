"""SoftmaxClickMouse: clicks by number, with Universe's arguments and numbers."""

from __future__ import annotations

import pytest
from gymnasium.spaces import Discrete

from universe_client import ConfigError
from vnc.events import PointerEvent
from wrappers import SoftmaxClickMouse


def test_clicks_arrive_and_leave_regions_alone(scripted, playing):
    remote = scripted()
    env = playing(remote)
    env = SoftmaxClickMouse(env, (0, 0, 24, 16), discrete_mouse_step=8, noclick_regions=[(0, 24, 0, 7)])
    assert env.action_space == Discrete(3)
    env.step([2])
    assert remote.wait_for_events(3) == [PointerEvent(20, 12, mask) for mask in (0, 1, 0)]


def points(env, **options):
    mouse = SoftmaxClickMouse(env, **options)
    return mouse._map.points(320, 240)


def test_active_region_is_corners_and_cells_are_numbered_by_column_as_in_universe(scripted, open_env):
    env = open_env(scripted())
    assert points(env, active_region=(100, 50, 140, 90), discrete_mouse_step=20) == [
        (110, 60),
        (110, 80),
        (130, 60),
        (130, 80),
    ]
    assert len(points(env, active_region=(10, 125, 170, 285))) == 16 * 16, "Universe's own default"
    assert points(env, active_region=(0, 0, 4, 12)) == [(3, 5), (3, 11)], "the middle of a cut cell is inside"


def test_noclick_regions_are_x_width_y_height_with_their_edges_as_in_universe(scripted, open_env):
    env = open_env(scripted())
    region = {"active_region": (0, 0, 40, 20), "discrete_mouse_step": 10}
    assert points(env, **region, noclick_regions=[(5, 20, 0, 10)]) == [
        (5, 15),
        (15, 15),
        (25, 15),
        (35, 5),
        (35, 15),
    ]


def test_corners_without_an_area_are_refused(scripted, open_env):
    with pytest.raises(ConfigError, match="no point to click on"):
        points(open_env(scripted()), active_region=(100, 50, 40, 40))
