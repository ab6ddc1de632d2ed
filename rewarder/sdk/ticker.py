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
        self._previous: Frame | None = (
            None  # a copy of the last frame, while the agent asks for the brighter of two
        )
        self._keeps = False

    def begin(self, env_id: str, seed: int | None) -> Tick | None:
        """Reset the environment."""
        first = self._runtime.reset(env_id, seed)
        self._previous = None if first is None else self._kept(first.frame)
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
        runtime, self._keeps = self._runtime, max_last_two
        for action in actions:
            runtime.action(action)
        done: list[Tick] = []
        frame: Frame | None = None
        try:
            for left in range(ticks, 0, -1):
                runtime.frame_wanted = max_last_two or left == 1
                tick = runtime.tick(events)
                done.append(tick)
                frame = self._brighter(tick.frame) if max_last_two else tick.frame
                if tick.done:
                    break
                events = ()
        finally:
            runtime.frame_wanted = True
        return done, frame

    def _brighter(self, frame: Frame | None) -> Frame | None:
        previous = self._previous
        if frame is None:
            return previous
        self._previous = self._kept(frame)
        return frame if previous is None or previous.shape != frame.shape else np.maximum(previous, frame)

    def _kept(self, frame: Frame | None) -> Frame | None:
        """Return a copy, because a runtime may draw the next frame into the same array."""
        return None if frame is None or not self._keeps else frame.copy()
