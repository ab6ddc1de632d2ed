"""Several ticks in a row, as one step of an agent wants them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rewarder.sdk.environment import Runtime, Tick
from vnc.events import Event
from vnc.session import Frame


class Ticker:
    """Runs the ticks of a step. Used on the environment's thread.

    Only the frames that are shown are drawn: see `Runtime.frame_wanted`.
    """

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        # A copy of the last frame: a runtime may draw the next one into the same array. None if nobody needs it.
        self._previous: Frame | None = None

    def begin(self, env_id: str, seed: int | None) -> Tick | None:
        """Reset the environment."""
        first = self._runtime.reset(env_id, seed)
        self._previous = None if first is None or first.frame is None else first.frame.copy()
        return first

    def run(
        self,
        events: Sequence[Event],
        actions: Sequence[Sequence[object]] = (),
        ticks: int = 1,
        max_last_two: bool = False,
    ) -> tuple[list[Tick], Frame | None]:
        """Run up to `ticks` ticks, until the episode ends.

        Args:
            events: input before the first tick.
            actions: `v0.agent.action`s before the first tick.
            ticks: at most this many.
            max_last_two: show the brighter of the last two frames, per channel (Mnih et al. 2015).

        Returns:
            The ticks, and the frame to show; None leaves the screen as it is.
        """
        runtime = self._runtime
        if not max_last_two:
            self._previous = None
        for action in actions:
            runtime.action(action)
        done: list[Tick] = []
        before: Frame | None = None
        try:
            for left in range(ticks, 0, -1):
                runtime.frame_wanted = max_last_two or left == 1
                tick = runtime.tick(events)
                done.append(tick)
                before = self._previous
                if max_last_two and tick.frame is not None:
                    self._previous = tick.frame.copy()
                if tick.done:
                    break
                events = ()
        finally:
            runtime.frame_wanted = True
        return done, _brighter(before, self._previous) if max_last_two else tick.frame


def _brighter(before: Frame | None, last: Frame | None) -> Frame | None:
    return last if before is None or last is None or before is last else np.maximum(before, last)
