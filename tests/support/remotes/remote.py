"""A remote whose messages and frames the test decides: our real servers, without a game."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from rewarder.client import RewarderAddress
from rewarder.errors import PeerLost
from rewarder.protocol.episode import EpisodeId
from rewarder.protocol.features import LOCKSTEP, Offer
from rewarder.protocol.messages import Describe
from rewarder.protocol.sessions import Request, StepRequest
from rewarder.server.server import ResetRequest, RewarderServer
from tests.support.network.listeners import stop_accepting
from universe_client.core.event_loop.loop import LoopThread
from universe_client.providers.provider import RemoteAddress
from vnc.events import Event, KeyEvent
from vnc.server.server import VNCServer
from vnc.session import VNCAddress

WIDTH, HEIGHT = 24, 16


class ScriptedRemote:
    """A VNC server and a rewarder on `loop`, which is not the agent's.

    `on_reset(remote, request)` answers a reset; the default starts the next episode at once. `on_input(remote, events)`
    receives input, `on_step(remote, request)` receives steps; without it there is no lock-step. All three run on the
    loop's thread. The test's thread may call all methods; they return when they are done. `script` runs a function
    without interruption on the loop's thread.

    Attributes:
        resets: the requests of all resets so far.
        events: all input events so far.
        episode: the number of the newest episode.
        reward_sum: the sum of all rewards sent.
    """

    def __init__(
        self,
        loop: LoopThread,
        *,
        on_reset: Callable[[ScriptedRemote, ResetRequest], None] | None = None,
        on_input: Callable[[ScriptedRemote, Sequence[Event]], None] | None = None,
        on_step: Callable[[ScriptedRemote, StepRequest], None] | None = None,
        password: str | None = None,
        has_rewarder: bool = True,
        picture: Any = None,
        host: str = "127.0.0.1",
        ports: tuple[int, int] = (0, 0),
    ) -> None:
        self.resets: queue.Queue[ResetRequest] = queue.Queue()
        self.events: list[Event] = []
        self.episode = 0
        self.reward_sum = 0.0
        self.password = password
        self._arrived = threading.Condition()
        self._loop = loop
        self._on_reset = on_reset or ScriptedRemote.answer
        self._on_input, self._on_step = on_input, on_step
        self._has_rewarder = has_rewarder
        self._picture = picture  # the whole time, of any size: for a remote without a rewarder
        self._host = host
        self._vnc_port, self._rewarder_port = ports
        self.rewarder: RewarderServer | None = None
        self.vnc: VNCServer | None = None
        self.start()

    @property
    def address(self) -> RemoteAddress:
        vnc = VNCAddress(self._host, self._vnc_port, self.password)
        if not self._has_rewarder:
            return RemoteAddress(vnc)
        return RemoteAddress(vnc, RewarderAddress(self._host, self._rewarder_port, self.password))

    # -- start and stop

    def start(self) -> None:
        """Listen; after a `stop`, on the same ports as before."""
        self._loop.run(self._start(), 60)

    async def _start(self) -> None:
        self._thread = threading.current_thread()
        await self.start_rewarder()
        await self.start_vnc()

    async def start_rewarder(self) -> None:
        extras = None if self._on_step is None else _Stepped(partial(self._on_step, self))
        self.rewarder = RewarderServer(password=self.password, on_reset=self._reset, extras=extras)
        await self.rewarder.start(self._host, self._rewarder_port)
        self._rewarder_port = self.rewarder.port

    async def start_vnc(self) -> None:
        picture = frame(self.episode) if self._picture is None else self._picture
        height, width, _ = picture.shape
        self.vnc = VNCServer(width, height, password=self.password, on_events=self._input)
        await self.vnc.start(self._host, self._vnc_port)
        self._vnc_port = self.vnc.port
        self.vnc.present(picture)

    def stop(self, code: int = 1001) -> None:
        """Stop both servers and close their connections."""
        self.stop_rewarder(code)
        self.stop_vnc()

    def stop_rewarder(self, code: int = 1001) -> None:
        if self.rewarder is not None:
            self._loop.run(_close(self.rewarder._server, self.rewarder.close(code, "the test is over")), 60)
            self.rewarder = None

    def stop_vnc(self) -> None:
        if self.vnc is not None:
            self._loop.run(_close(self.vnc._listener, self.vnc.close()), 60)
            self.vnc = None

    def restart_rewarder(self) -> None:
        self._loop.run(self.start_rewarder(), 60)

    def restart_vnc(self) -> None:
        self._loop.run(self.start_vnc(), 60)

    # -- output

    def script(self, function: Callable[[], Any]) -> Any:
        """Run `function` on the loop's thread, so that no other message comes between its messages."""

        async def run() -> Any:
            return function()

        if threading.current_thread() is self._thread:
            return function()
        return self._loop.run(run(), 60)

    def describe(self, env_state: str, episode: int | str | None = None) -> None:
        episode = self.episode if episode is None else episode
        self.script(
            lambda: self._rewarder.describe(
                EpisodeId.parse(episode), Describe("test.Env-v0", env_state, 60.0)
            )
        )

    def reward(
        self,
        reward: float,
        done: bool = False,
        info: dict[str, Any] | None = None,
        episode: int | None = None,
    ) -> None:
        self.reward_sum += reward
        number = EpisodeId.parse(self.episode if episode is None else episode)
        self.script(lambda: self._rewarder.reward(number, reward, done, info))

    def text(self, text: object) -> None:
        self.script(lambda: self._rewarder.text(EpisodeId.parse(self.episode), text))

    def env_observation(self, value: object) -> None:
        self.script(lambda: self._rewarder.env_observation(EpisodeId.parse(self.episode), value))

    def paint(self, value: int | None = None) -> None:
        """Show a screen of one value, the episode's number by default."""
        self.show(frame(self.episode if value is None else value))

    def show(self, picture: Any) -> None:
        """Show a screen, uint8 (HEIGHT, WIDTH, 3)."""
        self.script(lambda: self._screen.present(picture))

    def next_episode(self) -> None:
        """Announce, draw and start the next episode."""

        def begin() -> None:
            self.episode += 1
            self.describe("resetting")
            self.paint()
            self.describe("running")

        self.script(begin)

    def rewarder_late(self, reward: float) -> None:
        """Send a reward of the previous episode; `reward_sum` does not count it."""
        number = EpisodeId.parse(self.episode - 1)
        self.script(lambda: self._rewarder.reward(number, reward, True))

    def finish(self, reward: float = 0.0, info: dict[str, Any] | None = None) -> None:
        """End the episode."""
        self.reward(reward, True, info)

    def answer(self, request: ResetRequest) -> None:
        """Start the next episode and reply to `request`."""

        def run() -> None:
            self.next_episode()
            self.reply(request)

        self.script(run)

    def reply(self, request: ResetRequest, episode: int | None = None) -> None:
        number = EpisodeId.parse(self.episode if episode is None else episode)
        self.script(lambda: self._rewarder.reply_reset(request, number, self._screen.checksum()))

    def refuse(self, request: ResetRequest, message: str) -> None:
        self.script(lambda: self._rewarder.reply_error(request, message))

    # -- input

    def wait_for_events(self, count: int, timeout: float = 60.0) -> list[Event]:
        """Wait for `count` events, and return all."""
        with self._arrived:
            assert self._arrived.wait_for(lambda: len(self.events) >= count, timeout), self.events
            return list(self.events)

    def next_reset(self, timeout: float = 60.0) -> ResetRequest:
        return self.resets.get(timeout=timeout)

    def _input(self, events: Sequence[Event]) -> None:
        with self._arrived:
            self.events += events
            self._arrived.notify_all()
        if self._on_input is not None:
            self._on_input(self, events)

    def _reset(self, request: ResetRequest) -> None:
        self.resets.put(request)
        self._on_reset(self, request)

    @property
    def _rewarder(self) -> RewarderServer:
        if self.rewarder is None:
            raise PeerLost(1006, "the rewarder is stopped")
        return self.rewarder

    @property
    def _screen(self) -> VNCServer:
        if self.vnc is None:
            raise PeerLost(1006, "the vnc server is stopped")
        return self.vnc


@dataclass
class _Stepped:
    """Offers lock-step, and passes every step on."""

    on_step: Callable[[Any], None]
    offer: Offer = field(default_factory=lambda: Offer(frozenset({LOCKSTEP})))
    env_observation_space: None = None

    def activate(self, wants: frozenset[str]) -> None:
        """Do nothing: a scripted remote is always frozen."""

    def handle(self, request: Any, server: RewarderServer) -> None:
        self.on_step(request)


async def _close(listener: Any, close: Coroutine[Any, Any, None]) -> None:
    await stop_accepting(listener)
    await close


def frame(value: int) -> np.ndarray[Any, np.dtype[np.uint8]]:
    return np.full((HEIGHT, WIDTH, 3), value % 256, np.uint8)


def press_game(remote: ScriptedRemote, events: Sequence[Event]) -> None:
    """An `on_input` that rewards each press with 1. The fifth brings 10 more and ends the episode, whose sum is 15."""
    for event in events:
        if isinstance(event, KeyEvent) and event.down:
            remote.reward(1.0)
            if remote.reward_sum % 5 == 0:
                remote.finish(10.0)
                remote.next_episode()


def by_hand(remote: ScriptedRemote, request: Request) -> None:
    """An `on_reset` or `on_step` that does nothing: the test replies."""
