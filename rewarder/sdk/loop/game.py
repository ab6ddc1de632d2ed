"""Which episode a remote plays."""

from __future__ import annotations

import logging

from rewarder.protocol.episode import RUNNING, EpisodeId
from rewarder.protocol.messages import Describe
from rewarder.protocol.sessions import ResetRequest
from rewarder.sdk.environment import Runtime, Tick
from rewarder.sdk.loop.pacing import Pace
from rewarder.sdk.loop.results import Results, publish

RESETTING = "resetting"
SLOWEST, FASTEST = 1.0, 240.0
"""Bounds of the ticks per second that a client may ask for; other values are clipped."""
LEAST_SCALE, GREATEST_SCALE = 0.1, 10.0
"""Bounds of the time scale, likewise."""

log = logging.getLogger(__name__)


class Game:
    """The present episode, and what clients are told of it. One thread at a time uses it.

    Attributes:
        env_id: the environment.
        env_state: `resetting` or `running`.
        is_over: whether the episode has ended.
        pace: the deadlines of its ticks.
        time_scale: seconds of the environment's time per second.
    """

    def __init__(self, runtime: Runtime, env_id: str) -> None:
        self._runtime = runtime
        self._default_fps = float(runtime.fps)
        self._number = 0
        self.env_id = env_id
        self.env_state = RESETTING
        self.is_over = False
        self.pace = Pace(self._default_fps)
        self.time_scale = 1.0

    @property
    def episode_id(self) -> EpisodeId:
        """The id of the episode."""
        return EpisodeId((self._number,))

    def announce(self, results: Results, request: ResetRequest | None = None) -> None:
        """Report that the next episode is resetting, with what `request` asks for."""
        self._number += 1
        if request is not None:
            self.env_id = request.env_id or self.env_id
            self._set_pace(
                min(max(request.fps, SLOWEST), FASTEST) if request.fps else self._default_fps,
                min(max(request.time_scale or 1.0, LEAST_SCALE), GREATEST_SCALE),
            )
        self._describe(results, RESETTING)

    @property
    def ticks_per_second(self) -> float:
        """Ticks per second to run in real time."""
        return self._runtime.fps * self.time_scale

    def _set_pace(self, fps: float, time_scale: float) -> None:
        runtime = self._runtime
        if runtime.display or not runtime.lockstep:  # its time passes between ticks
            time_scale = 1.0
        if (fps, time_scale) != (runtime.fps, self.time_scale):
            runtime.fps, self.time_scale = fps, time_scale
            self.pace = Pace(self.ticks_per_second)

    def begin(self, results: Results, first: Tick | None) -> None:
        """Report that the episode runs, and the result of its reset."""
        self._describe(results, RUNNING)
        self.is_over = first is not None and publish(results, self.episode_id, [first])

    def advance(self, results: Results, ticks: list[Tick]) -> None:
        """Report what ticks have brought."""
        self.is_over = publish(results, self.episode_id, ticks)

    def _describe(self, results: Results, env_state: str) -> None:
        self.env_state = env_state
        log.debug("= episode %s %s", self._number, env_state)
        state = Describe(self.env_id, env_state, float(self._runtime.fps), self.time_scale)
        results.describe(self.episode_id, state)
