"""The loop that runs an environment: episode after episode, tick after tick, with results to both servers.

In real time, a tick runs at each deadline, and an episode begins as soon as the last one ends. In lock-step, both wait
for the client's next `v1.env.step`. Input is then part of that message, because the rewarder channel and VNC have no
common order. The reply follows all other messages of the tick. It contains the screen's checksum, by which the client
recognises the tick's frame.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence

from rewarder.protocol.episode import RUNNING, EpisodeId
from rewarder.protocol.sessions import ResetRequest
from rewarder.sdk.environment import Runtime, Tick
from rewarder.sdk.inbox import Inbox, LockStep
from rewarder.sdk.pacing import Pace
from rewarder.sdk.worker import Worker
from rewarder.server.server import RewarderServer
from vnc.events import Event
from vnc.server.server import VNCServer

RESETTING = "resetting"
SLOWEST, FASTEST = 1.0, 240.0
"""Bounds of the ticks per second that a client may ask for; other values are clipped."""

log = logging.getLogger(__name__)


class Player:
    """Runs episodes until it is cancelled. A reset of a client ends an episode early."""

    def __init__(
        self,
        runtime: Runtime,
        worker: Worker,
        inbox: Inbox,
        rewarder: RewarderServer,
        screen: VNCServer | None,
        env_id: str,
    ) -> None:
        self._runtime = runtime
        self._worker = worker
        self._inbox = inbox
        self._rewarder = rewarder
        self._screen = screen
        self._default_fps = float(runtime.fps)
        self._pace = Pace(self._default_fps)
        self._env_id = env_id
        self._env_state = RESETTING
        self._number = 0
        self._announce(None)

    def health(self) -> Mapping[str, object]:
        """Return the environment's part of the health page."""
        return {
            "env_id": self._env_id,
            "env_state": self._env_state,
            "episode_id": str(self._episode_id),
            "fps": float(self._runtime.fps),
            "lockstep": self._inbox.lockstep,
            "ticks_per_second": round(self._pace.rate, 2),
            "ticks_missed": self._pace.missed,
        }

    @property
    def speed(self) -> float | None:
        """Ticks per second as a share of `fps`, at most 1; None in lock-step, and before it is known."""
        rate = self._pace.rate
        return None if self._inbox.lockstep or not rate else round(min(rate / self._runtime.fps, 1.0), 3)

    async def play(self, seed: int | None = None) -> None:
        """Run episodes until cancelled; `seed` is for the first one. Raises what the runtime raises."""
        over = await self._begin(None, seed)
        while True:
            await self._episode(over)
            cue = await self._cue()
            reset = cue if isinstance(cue, ResetRequest) else None
            self._announce(reset)
            over = await self._begin(cue, reset.seed if reset else None)

    async def _cue(self) -> ResetRequest | LockStep | None:
        """Return the request that begins the next episode; None in real time, where it begins without one."""
        inbox = self._inbox
        while inbox.lockstep and not inbox.has_step and not inbox.resets:
            await inbox.wait()
        return inbox.take_step() or inbox.take_reset()

    def _announce(self, request: ResetRequest | None) -> None:
        self._number += 1
        if request is not None:
            self._env_id = request.env_id or self._env_id
            self._set_fps(min(max(request.fps, SLOWEST), FASTEST) if request.fps else self._default_fps)
        self._describe(RESETTING)

    def _set_fps(self, fps: float) -> None:
        if fps != self._runtime.fps:
            self._runtime.fps = fps
            self._pace = Pace(fps)

    async def _begin(self, cue: ResetRequest | LockStep | None, seed: int | None) -> bool:
        """Begin an episode, and answer the request for it; return whether it has already ended."""
        first = await self._worker.call(self._runtime.reset, self._env_id, seed)
        if first is not None:
            self._show(first)
        self._inbox.drop_input()
        self._describe(RUNNING)
        over = first is not None and self._publish(first)
        self._answer(cue)
        return over

    async def _episode(self, over: bool) -> None:
        """Tick until the episode ends or a reset arrives."""
        self._pace.start(time.monotonic())
        while not over and await self._is_due():
            step = self._inbox.take_step()
            events, actions = self._inbox.take_input()
            tick = await self._worker.call(self._tick, step.events if step else events, actions)
            if self._inbox.resets:
                self._inbox.drop_step(step)
                return
            self._show(tick)
            over = self._publish(tick)
            self._answer(step)

    async def _is_due(self) -> bool:
        """Wait for the next deadline or, in lock-step, for a step; return False if a reset arrives first."""
        inbox, pace = self._inbox, self._pace
        while not inbox.has_step:
            if inbox.resets:
                return False
            if inbox.lockstep:
                await inbox.wait()
                pace.resume(time.monotonic())
            elif not await inbox.wait(pace.delay(time.monotonic())):
                pace.ticked(time.monotonic())
                return True
        pace.stepped(time.monotonic())
        return True

    def _tick(self, events: list[Event], actions: list[Sequence[object]]) -> Tick:
        for action in actions:
            self._runtime.action(action)
        return self._runtime.tick(events)

    def _show(self, tick: Tick) -> None:
        if tick.frame is not None and self._screen is not None:
            self._screen.present(tick.frame)

    def _answer(self, cue: ResetRequest | LockStep | None) -> None:
        checksum = self._screen.checksum() if self._inbox.lockstep and self._screen is not None else None
        if isinstance(cue, ResetRequest):
            self._rewarder.reply_reset(cue, self._episode_id, checksum)
        elif cue is not None:
            self._rewarder.reply_step(cue.request, self._episode_id, checksum)

    def _publish(self, tick: Tick) -> bool:
        """Send the results of a tick; return True if it ended the episode."""
        if tick.text is not None:
            self._rewarder.text(self._episode_id, tick.text)
        if tick.env_observation is not None:
            self._rewarder.env_observation(self._episode_id, tick.env_observation)
        info = dict(tick.info)
        if tick.done and tick.truncated:
            info["truncated"] = True
        if tick.reward or tick.done or info:
            self._rewarder.reward(self._episode_id, float(tick.reward), tick.done, info)
        return tick.done

    def _describe(self, env_state: str) -> None:
        self._env_state = env_state
        log.debug("= episode %s %s", self._number, env_state)
        self._rewarder.describe(self._episode_id, self._env_id, env_state, float(self._runtime.fps))

    @property
    def _episode_id(self) -> EpisodeId:
        return EpisodeId((self._number,))
