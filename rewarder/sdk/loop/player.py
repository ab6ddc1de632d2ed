"""The loop that runs an environment: episode after episode, tick after tick, with results to both servers.

In real time, a tick runs at each deadline, and an episode begins as soon as the last one ends. In lock-step, both wait
for the client's next `v1.env.step`. Input is then part of that message, because the rewarder channel and VNC have no
common order. The reply follows all other messages of the tick. It contains the screen's checksum, by which the client
recognises the tick's frame.

A client on the same host steps over a step channel instead (`rewarder.steps`): then `Lane` runs the steps on the
environment's thread, and what is here waits until a reset, a call or the end of the channel.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from functools import partial

from rewarder.protocol.episode import EpisodeId
from rewarder.protocol.sessions import ResetRequest
from rewarder.sdk.environment import Runtime
from rewarder.sdk.loop.beat import Beat
from rewarder.sdk.loop.game import Game
from rewarder.sdk.loop.inbox import Inbox, LockStep
from rewarder.sdk.loop.lane import IDLE, Lane
from rewarder.sdk.loop.ticker import Ticker
from rewarder.sdk.loop.worker import Worker
from rewarder.server.server import RewarderServer
from rewarder.steps.channel import Channel
from vnc.server.server import VNCServer
from vnc.session import Frame

POLLED = 1 / 30
"""Seconds between ticks up to which VNC clients are read at ticks: answers to fences wait that long."""
STOP_TIMEOUT = 0.2
"""Seconds in which a tick has to end when the remote is stopped."""


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
        self._game = Game(runtime, env_id)
        self._ticker = Ticker(runtime)
        self._lane: Lane | None = None
        self._game.announce(rewarder)

    def health(self) -> Mapping[str, object]:
        """Return the environment's part of the health page."""
        game = self._game
        return {
            "env_id": game.env_id,
            "env_state": game.env_state,
            "episode_id": str(game.episode_id),
            "fps": float(self._runtime.fps),
            "time_scale": game.time_scale,
            "lockstep": self._inbox.lockstep,
            "ticks_per_second": round(game.pace.rate, 2),
            "ticks_missed": game.pace.missed,
        }

    @property
    def episode_id(self) -> EpisodeId:
        """The id of the present episode."""
        return self._game.episode_id

    @property
    def speed(self) -> float | None:
        """Ticks per second as a share of those wanted, at most 1; None in lock-step, and before it is known."""
        rate = self._game.pace.rate
        return (
            None
            if self._inbox.lockstep or not rate
            else round(min(rate / self._game.ticks_per_second, 1.0), 3)
        )

    def open_lane(self, channel: Channel) -> None:
        """Take steps from `channel`, if the controlling client steps the environment and has no channel yet.

        Raises:
            ConnectionRefusedError: it does not, or it has.
        """
        if not self._inbox.lockstep or self._lane is not None:
            raise ConnectionRefusedError("no client that steps the environment without a channel")
        self._lane = Lane(channel, self._game, self._ticker, self._inbox, self._rewarder)
        self._inbox.attach(self._lane)

    async def play(self, seed: int | None = None) -> None:
        """Run episodes until cancelled; `seed` is for the first one. Raises what the runtime raises."""
        await self._begin(None, seed)
        while True:
            if self._lane is not None:
                await self._run_lane(self._lane)
            elif not self._game.is_over:
                await self._episode()
            cue = await self._cue()
            if isinstance(cue, ResetRequest) or (self._game.is_over and self._lane is None):
                reset = cue if isinstance(cue, ResetRequest) else None
                self._game.announce(self._rewarder, reset)
                await self._begin(cue, reset.seed if reset else None)

    async def _cue(self) -> ResetRequest | LockStep | None:
        """Return the request that begins the next episode; None where it begins without one, or has not ended."""
        inbox = self._inbox
        if self._game.is_over:
            while inbox.lockstep and self._lane is None and not inbox.has_step and not inbox.resets:
                await inbox.wait()
        return (inbox.take_step() if self._game.is_over else None) or inbox.take_reset()

    async def _begin(self, cue: ResetRequest | LockStep | None, seed: int | None) -> None:
        """Begin an episode, and answer the request for it."""
        first = await self._worker.call(self._ticker.begin, self._game.env_id, seed)
        self._show(None if first is None else first.frame)
        self._inbox.drop_input()
        self._game.begin(self._rewarder, first)
        self._answer(cue)

    async def _episode(self) -> None:
        """Tick until the episode ends, a reset arrives or a step channel opens."""
        game, inbox = self._game, self._inbox
        game.pace.start(time.monotonic())
        while not game.is_over and await self._is_due():
            step = inbox.take_step()
            events, actions = inbox.take_input()
            if step is None:
                ticks, frame = await self._worker.call(self._ticker.run, events, actions)
            else:
                ticks, frame = await self._worker.call(
                    self._ticker.run, step.events, actions, step.request.ticks, step.request.max_last_two
                )
                game.pace.stepped(time.monotonic(), len(ticks))
            if inbox.resets:
                inbox.drop_step(step)
                return
            self._show(frame)
            game.advance(self._rewarder, ticks)
            self._answer(step)

    async def _is_due(self) -> bool:
        """Wait for the next deadline or, in lock-step, for a step; return False if something else comes first.

        The ticks of a quick environment run meanwhile; then it waits for a step, or for something else.
        """
        inbox, pace = self._inbox, self._game.pace
        while not inbox.has_step:
            if inbox.resets or self._lane is not None:
                return False
            if inbox.lockstep:
                await inbox.wait()
                pace.resume(time.monotonic())
            elif self._worker.is_inline:
                await self._beat()
                if self._game.is_over:
                    return False
            elif not await inbox.wait(pace.delay(time.monotonic())):
                pace.ticked(time.monotonic())
                return True
        return True

    async def _beat(self) -> None:
        """Run ticks on the event loop's thread until the episode ends, or something is to be done."""
        screen = self._screen if self._game.pace.period <= POLLED else None
        try:
            await Beat(self._game.pace, self._inbox, partial(self._tick, screen)).run()
        finally:
            if screen is not None:
                screen.watch()

    def _tick(self, polled: VNCServer | None) -> bool:
        """Run a tick; return whether the episode goes on. `polled` is the screen if its clients are read at ticks."""
        if polled is not None:
            polled.poll()
        ticks, frame = self._ticker.run(*self._inbox.take_input())
        self._show(frame)
        if polled is not None:
            polled.flush()
        self._game.advance(self._rewarder, ticks)
        return not self._game.is_over

    async def _run_lane(self, lane: Lane) -> None:
        """Let a step channel run until something else is to be done, then bring VNC clients up to date."""
        try:
            await (self._run_inline(lane) if self._worker.is_inline else self._run_on_thread(lane))
        except BaseException:
            self._close_lane(lane)
            raise
        if not lane.is_shown and self._screen is not None:
            self._screen.present(lane.pixels)
            lane.shown()
        if self._inbox.resets:
            lane.refuse_steps()
        if not lane.is_open or not self._inbox.lockstep:
            self._close_lane(lane)

    async def _run_inline(self, lane: Lane) -> None:
        loop, inbox = asyncio.get_running_loop(), self._inbox
        loop.add_reader(lane.fileno(), inbox.notify)
        try:
            while lane.run(self._is_watched, wait=False):
                if not await inbox.wait(None if lane.is_shown else IDLE):
                    return
        finally:
            loop.remove_reader(lane.fileno())

    async def _run_on_thread(self, lane: Lane) -> None:
        running = asyncio.ensure_future(self._worker.call(lane.run, self._is_watched, True))
        try:
            await asyncio.shield(running)
        except BaseException:
            lane.hang_up()
            lane.interrupt()
            _, late = await asyncio.wait([running], timeout=STOP_TIMEOUT)
            if late:
                lane.abandon()
            raise

    def _close_lane(self, lane: Lane) -> None:
        """Return to the steps of the WebSocket."""
        self._inbox.attach(None)
        self._lane = None
        lane.close()

    def _is_watched(self) -> bool:
        return self._screen is not None and self._screen.connections > 1

    def _show(self, frame: Frame | None) -> None:
        if frame is None or self._screen is None:
            return
        self._screen.present(frame)
        if self._lane is not None:
            self._lane.show(frame)

    def _answer(self, cue: ResetRequest | LockStep | None) -> None:
        needs_checksum = self._inbox.lockstep and self._lane is None and self._screen is not None
        checksum = self._screen.checksum() if needs_checksum and self._screen is not None else None
        if isinstance(cue, ResetRequest):
            self._rewarder.reply_reset(cue, self._game.episode_id, checksum)
        elif cue is not None:
            self._rewarder.reply_step(cue.request, self._game.episode_id, checksum)
