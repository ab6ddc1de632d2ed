"""Clicks as Discrete actions, what a softmax over the screen chooses from."""

from __future__ import annotations

from collections.abc import Sequence

from universe_client.click_grid import ClickGrid, Region
from universe_client.vector_env import VectorEnv
from wrappers.key_state import KeyState
from wrappers.wrapper import Wrapper


class SoftmaxClickMouse(KeyState):
    """Clicks in the middle of a square of a grid, one number per square; see `ClickGrid`, which Gymnasium's faces take.

    Example:
        env = universe_client.make("browser.MiniWoB.click-test-v1", remotes=4)
        env = SoftmaxClickMouse(env, active_region=(10, 60, 160, 160), no_click_regions=[(10, 60, 160, 20)])
        env.reset()
        env.step([env.action_space.sample() for _ in range(4)])
    """

    def __init__(
        self,
        env: VectorEnv | Wrapper,
        active_region: Region | None = None,
        discrete_mouse_step: int = 10,
        no_click_regions: Sequence[Region] = (),
    ) -> None:
        """Wrap `env`; regions are (x, y, width, height) and the step the side of a square, all in pixels."""
        super().__init__(env, ClickGrid(active_region, discrete_mouse_step, no_click_regions))
