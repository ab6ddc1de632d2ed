"""An environment played in real time: episode after episode, one tick per deadline, results to the servers."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from rewarder.environment import Runtime, Tick
from rewarder.episode import RUNNING, EpisodeId
from rewarder.pacing import Pace
from rewarder.protocol import ResetRequest
from rewarder.server import RewarderServer
from rewarder.worker import Worker
from vnc.events import Event
from vnc.session import Frame

RESETTING = "resetting"
PENDING_RESETS = 16
"""Resets that may wait for an earlier one; a client that asks for more is told so."""
PENDING_EVENTS = 4096
"""Input events (and likewise actions) of one tick; more than that in a 60th of a second is a flood, and dropped."""
MAX_SEED = 2**63 - 1

log = logging.getLogger(__name__)


class Screen(Protocol):
    """Where frames go: a `vnc.server.VNCServer`, or nowhere in display mode."""

    def present(self, frame: Frame) -> None:
        """Show `frame`."""
        ...


class Inbox:
    """What clients sent and the environment has not seen yet. Lives on the event loop's thread."""

    def __init__(self, env_ids: Sequence[str]) -> None:
        self.resets: deque[ResetRequest] = deque()
        self.arrived = asyncio.Event()
        """Set while `resets` is not empty."""
        self.refuse: Callable[[ResetRequest, str], None] = _nobody
        """How a reset is refused; the server that reads the requests, once there is one."""
        self._env_ids = env_ids
        self._events: list[Event] = []
        self._actions: list[Sequence[object]] = []

    def reset(self, request: ResetRequest) -> None:
        """Queue a reset, or refuse it."""
        refusal = self._refusal(request)
        if refusal is None:
            self.resets.append(request)
            self.arrived.set()
        else:
            self.refuse(request, refusal)

    def take_reset(self) -> ResetRequest | None:
        """Return the oldest waiting reset."""
        request = self.resets.popleft() if self.resets else None
        if not self.resets:
            self.arrived.clear()
        return request

    def events(self, events: Sequence[Event]) -> None:
        """Keep input for the next tick."""
        self._events += events[: PENDING_EVENTS - len(self._events)]

    def action(self, action: Sequence[object], env_id: str | None = None) -> None:
        """Keep a `v0.agent.action` for the next tick."""
        if len(self._actions) < PENDING_EVENTS:
            self._actions.append(action)

    def take_input(self) -> tuple[list[Event], list[Sequence[object]]]:
        """Return the events and actions since the last call."""
        events, self._events = self._events, []
        actions, self._actions = self._actions, []
        return events, actions

    def _refusal(self, request: ResetRequest) -> str | None:
        if request.env_id is not None and request.env_id not in self._env_ids:
            return f"unknown env_id {request.env_id[:200]!r}, this remote serves {', '.join(self._env_ids)}"
        if request.seed is not None and not 0 <= request.seed <= MAX_SEED:
            return f"a seed is 0 to {MAX_SEED}, not {request.seed}"
        if len(self.resets) >= PENDING_RESETS:
            return f"{PENDING_RESETS} resets are waiting already"
        return None


def _nobody(request: ResetRequest, message: str) -> None:
    raise RuntimeError("a reset was requested before there was a server")


class Player:
    """Plays episodes for ever: begin, tick until done or a client wants a reset, begin the next."""

    def __init__(
        self,
        runtime: Runtime,
        worker: Worker,
        inbox: Inbox,
        rewarder: RewarderServer,
        screen: Screen | None,
        env_id: str,
    ) -> None:
        self._runtime = runtime
        self._worker = worker
        self._inbox = inbox
        self._rewarder = rewarder
        self._screen = screen
        self._pace = Pace(runtime.fps)
        self._env_id = env_id
        self._env_state = RESETTING
        self._number = 0
        self._announce(None)

    def health(self) -> Mapping[str, object]:
        """Return what the health page shows of the environment."""
        return {
            "env_id": self._env_id,
            "env_state": self._env_state,
            "episode_id": str(self._episode_id),
            "fps": float(self._runtime.fps),
            "ticks_per_second": round(self._pace.rate, 2),
            "ticks_missed": self._pace.missed,
        }

    async def play(self, seed: int | None = None) -> None:
        """Play until cancelled; `seed` is for the first episode. Raises what the runtime raises."""
        first = await self._begin(None, seed)
        while True:
            await self._episode(first)
            request = self._inbox.take_reset()
            self._announce(request)
            first = await self._begin(request, request.seed if request else None)

    def _announce(self, request: ResetRequest | None) -> None:
        self._number += 1
        if request is not None and request.env_id is not None:
            self._env_id = request.env_id
        self._describe(RESETTING)

    async def _begin(self, request: ResetRequest | None, seed: int | None) -> Tick | None:
        first = await self._worker.call(self._runtime.reset, self._env_id, seed)
        if first is not None:
            self._show(first)
        self._inbox.take_input()  # of the time before: dropped
        self._describe(RUNNING)
        if request is not None:
            self._rewarder.reply_reset(request, self._episode_id)
        return first

    async def _episode(self, first: Tick | None) -> None:
        """Tick until the episode is done, or a reset aborts it."""
        over = first is not None and self._publish(first)
        self._pace.start(time.monotonic())
        while not over and not await self._reset_before(self._pace.delay(time.monotonic())):
            self._pace.ticked(time.monotonic())
            tick = await self._worker.call(self._live, *self._inbox.take_input())
            if self._inbox.resets:
                return
            self._show(tick)
            over = self._publish(tick)

    def _live(self, events: list[Event], actions: list[Sequence[object]]) -> Tick:
        for action in actions:
            self._runtime.action(action)
        return self._runtime.tick(events)

    async def _reset_before(self, delay: float) -> bool:
        """Wait for the next deadline; return True if a reset came first."""
        try:
            async with asyncio.timeout(delay):
                await self._inbox.arrived.wait()
        except TimeoutError:
            return False
        return True

    def _show(self, tick: Tick) -> None:
        if tick.frame is not None and self._screen is not None:
            self._screen.present(tick.frame)

    def _publish(self, tick: Tick) -> bool:
        """Send what a tick brought; return True if it ended the episode."""
        if tick.text is not None:
            self._rewarder.text(self._episode_id, tick.text)
        if tick.observation is not None:
            self._rewarder.observation(self._episode_id, tick.observation)
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
