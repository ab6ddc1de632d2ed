"""An action map of clicks: one Discrete action per point of a grid on the screen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gymnasium.spaces import Discrete, Space

from universe_client.errors import ConfigError
from universe_client.spaces import actions
from universe_client.spaces.action_maps import Held, choice
from vnc.events import Event

Region = tuple[int, int, int, int]
"""(x, y, width, height) in pixels."""
Point = tuple[int, int]


class ClickGrid:
    """Discrete actions: each clicks in the middle of one square of a grid, numbered row by row from the top left.

    Example:
        grid = ClickGrid(region=(10, 60, 160, 160), step=20, no_click_regions=[(10, 60, 160, 20)])
        env = GymVectorEnv("browser.MiniWoB.click-test-v1", num_envs=4, actions=grid)
        env.step(np.array([0, 8, 16, 24]))
    """

    def __init__(
        self,
        region: Region | None = None,
        step: int = 10,
        no_click_regions: Sequence[Region] = (),
        button: int = actions.LEFT,
    ) -> None:
        """Choose the grid.

        Args:
            region: (x, y, width, height) of the grid in pixels; None is the whole screen.
            step: the side of a square in pixels.
            no_click_regions: squares whose middle lies in one of these regions are left out.
            button: the bit of the button in a button mask: 1 left, 2 middle, 4 right.

        Raises:
            ConfigError: `step` is not positive.
        """
        if step < 1:
            raise ConfigError(f"step={step} is not a positive number of pixels")
        self._region, self._step, self._button = region, step, button
        self._no_click_regions = tuple(no_click_regions)
        self._grids: dict[tuple[int, int], list[Point]] = {}

    def points(self, width: int, height: int) -> list[Point]:
        """Return the (x, y) of each action, in pixels, on a screen of this size.

        Raises:
            ConfigError: the region contains no point.
        """
        grid = self._grids.get((width, height))
        if grid is None:
            grid = self._grids[width, height] = self._lay(width, height)
        if not grid:
            raise ConfigError(
                f"region={self._region} has no point to click on, on a screen of {width}x{height}"
            )
        return grid

    def _lay(self, width: int, height: int) -> list[Point]:
        left, top, across, down = self._region or (0, 0, width, height)
        half = self._step // 2
        return [
            (x, y)
            for y in range(top + half, min(top + down, height), self._step)
            for x in range(left + half, min(left + across, width), self._step)
            if not any(_inside(region, x, y) for region in self._no_click_regions)
        ]

    def space(self, width: int, height: int) -> Space[Any]:
        """Return `Discrete(number of points)`."""
        return Discrete(len(self.points(width, height)))

    def events(self, action: Any, held: Held, screen_size: tuple[int, int]) -> list[Event]:
        """Return the events that click on point number `action`; buttons that are down are released first."""
        points = self.points(*screen_size)
        x, y = points[choice(action, len(points))]
        return actions.click(x, y, self._button)


def _inside(region: Region, x: int, y: int) -> bool:
    left, top, width, height = region
    return left <= x < left + width and top <= y < top + height
