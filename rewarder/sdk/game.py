"""Which episode a remote plays."""

from __future__ import annotations

import logging

from rewarder.protocol.episode import RUNNING, EpisodeId
from rewarder.protocol.sessions import ResetRequest
from rewarder.sdk.environment import Runtime, Tick
from rewarder.sdk.pacing import Pace
from rewarder.sdk.results import Results, publish

RESETTING = "resetting"
SLOWEST, FASTEST = 1.0, 240.0
"""Bounds of the ticks per second that a client may ask for; other values are clipped."""

log = logging.getLogger(__name__)


class Game:
    """The present episode, and what clients are told of it. One thread at a time uses it.

    Attributes:
        env_id: the environment.
        env_state: `resetting` or `running`.
        is_over: whether the episode has ended.
        pace: the deadlines of its ticks.
    """

    def __init__(self, runtime: Runtime, env_id: str) -> None:
        self._runtime = runtime
        self._default_fps = float(runtime.fps)
        self._number = 0
        self.env_id = env_id
        self.env_state = RESETTING
        self.is_over = False
        self.pace = Pace(self._default_fps)

    @property
    def episode_id(self) -> EpisodeId:
        """The id of the episode."""
        return EpisodeId((self._number,))

    def announce(self, results: Results, request: ResetRequest | None = None) -> None:
        """Report that the next episode is resetting, with what `request` asks for."""
        self._number += 1
        if request is not None:
            self.env_id = request.env_id or self.env_id
            self._set_fps(min(max(request.fps, SLOWEST), FASTEST) if request.fps else self._default_fps)
        self._describe(results, RESETTING)

    def _set_fps(self, fps: float) -> None:
        if fps != self._runtime.fps:
            self._runtime.fps = fps
            self.pace = Pace(fps)

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
        results.describe(self.episode_id, self.env_id, env_state, float(self._runtime.fps))
