"""SoftmaxClickMouse: clicks by number on Universe's face; what a grid is, test_click_grid.py says."""

from __future__ import annotations

from gymnasium.spaces import Discrete

from vnc.events import PointerEvent
from wrappers import SoftmaxClickMouse


def test_clicks_arrive_and_leave_regions_alone(scripted, playing):
    remote = scripted()
    env = playing(remote)
    env = SoftmaxClickMouse(env, (0, 0, 24, 16), discrete_mouse_step=8, no_click_regions=[(0, 0, 24, 8)])
    assert env.action_space == Discrete(3)
    env.step([2])
    assert remote.wait_for_events(3) == [PointerEvent(20, 12, mask) for mask in (0, 1, 0)]
