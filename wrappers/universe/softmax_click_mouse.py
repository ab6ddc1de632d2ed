"""Clicks on the cells of a grid as Discrete actions, for policies with a softmax over the screen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from universe_client.spaces.click_grid import ClickGrid, Point
from universe_client.vector_env import VectorEnv
from wrappers.universe.key_state import KeyState
from wrappers.universe.wrapper import Wrapper

Corners = tuple[int, int, int, int]
"""(left, top, right, bottom) in pixels; right and bottom are exclusive."""
NoClickRegion = tuple[int, int, int, int]
"""(x, width, y, height) in pixels, in Universe's order; the edges are inclusive."""


class SoftmaxClickMouse(KeyState):
    """Clicks in the middle of a grid cell: `Discrete`, one number per cell.

    Arguments and numbers are those of Universe's wrapper of this name: cells are numbered column by column. Only the
    default of `active_region` differs; Universe's was the area of a MiniWoB page in its own browser. New code can use
    `universe_client.spaces.click_grid.ClickGrid` on every interface; it takes regions as (x, y, width, height) and
    numbers cells row by row.

    Example:
        env = universe_client.make("browser.MiniWoB.click-test-v1", remotes=4)
        env = SoftmaxClickMouse(env, active_region=(10, 60, 170, 220), noclick_regions=[(10, 160, 60, 20)])
        env.reset()
        env.step([env.action_space.sample() for _ in range(4)])
    """

    instead: ClassVar[str] = "actions=universe_client.spaces.click_grid.ClickGrid()"

    def __init__(
        self,
        env: VectorEnv | Wrapper,
        active_region: Corners | None = None,
        discrete_mouse_step: int = 10,
        noclick_regions: Sequence[NoClickRegion] = (),
    ) -> None:
        """Wrap `env`.

        Args:
            env: a `VectorEnv`, with or without wrappers.
            active_region: (left, top, right, bottom) of the grid in pixels; None is the whole screen.
            discrete_mouse_step: the width and height of a cell in pixels.
            noclick_regions: (x, width, y, height) in pixels each; a cell whose middle is in one of them has no number.

        Raises:
            ConfigError: `active_region` is empty, or `discrete_mouse_step` is not positive.
        """
        super().__init__(env, _UniverseGrid(active_region, discrete_mouse_step, noclick_regions))


class _UniverseGrid(ClickGrid):
    """The cells of Universe's `SoftmaxClickMouse`, in its order."""

    def __init__(self, corners: Corners | None, step: int, noclick_regions: Sequence[NoClickRegion]) -> None:
        region = None
        if corners is not None:
            left, top, right, bottom = corners
            region = left, top, right - left, bottom - top
        super().__init__(region, step)
        self._noclick = tuple(noclick_regions)

    def _lay(self, width: int, height: int) -> list[Point]:
        left, top, across, down = self._region or (0, 0, width, height)
        right, bottom = left + across, top + down
        half = self._step // 2
        cells = (
            (min(x + half, right - 1), min(y + half, bottom - 1))
            for x in range(left, right, self._step)
            for y in range(top, bottom, self._step)
        )
        return [cell for cell in cells if not any(_inside(region, *cell) for region in self._noclick)]


def _inside(region: NoClickRegion, x: int, y: int) -> bool:
    left, width, top, height = region
    return left <= x <= left + width and top <= y <= top + height
