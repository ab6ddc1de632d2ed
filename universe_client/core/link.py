"""One remote's two connections and its episodes, kept alive on the event loop.

    CONNECTING ──> RESETTING ──> RUNNING ──> RESETTING ...        any of them ──> LOST ──> CONNECTING
                                                                  close() or a permanent error ──> CLOSED

RUNNING means: the rewarder says `running` for the newest episode, and every pixel in the framebuffer was drawn after
it said so. A remote without a rewarder has one endless episode.

Everything here runs on the event loop's thread, but for `act`, the one shortcut: input goes from the agent's thread
straight to the session. `_lock` keeps it from crossing the end of the episode it was meant for.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Sequence
from enum import StrEnum

from rewarder.client import RewarderClient
from rewarder.protocol.buffer import RewardBuffer
from rewarder.protocol.episode import EpisodeId, Popped
from rewarder.protocol.messages import Call, Envelope
from universe_client.config import Config
from universe_client.core.backoff import Backoff
from universe_client.core.calls import PendingCalls
from universe_client.core.connector import Connector
from universe_client.core.held import HeldInput
from universe_client.core.witness import Witness
from universe_client.errors import (
    CallFailed,
    ProtocolError,
    RemoteError,
    ResetTimeout,
    StepTimeout,
    remote_error,
)
from universe_client.providers.provider import Provider, RemoteAddress
from vnc.events import Event, PointerEvent
from vnc.session import Session

logger = logging.getLogger(__name__)


class State(StrEnum):
    """Where a remote is in its life."""

    CONNECTING = "connecting"
    RESETTING = "resetting"
    RUNNING = "running"
    LOST = "lost"
    CLOSED = "closed"


class Link:
    """Connects, resets, reconnects, and knows which episode's pixels the framebuffer holds.

    Attributes:
        state: see the module's docstring.
        buffer: the rewards of this remote; it outlives connections.
        address, session, rewarder: of the connection now; None while there is none.
        playing: the episode whose pixels the framebuffer holds; None while there is no such episode.
        errors: what went wrong, until somebody takes it away.
        cuts: how often an endless episode (that of a remote without a rewarder) was cut by a loss.
    """

    def __init__(
        self,
        index: int,
        env_id: str | None,
        provider: Provider,
        config: Config,
        witness: Witness,
        on_change: Callable[[], None],
    ) -> None:
        self.index = index
        self.state = State.CONNECTING
        self.buffer = RewardBuffer()
        self.address: RemoteAddress | None = None
        self.session: Session | None = None
        self.rewarder: RewarderClient | None = None
        self.playing: EpisodeId | None = None
        self.errors: list[RemoteError] = []
        self.cuts = 0
        self._env_id, self._config = env_id, config
        self._connector = Connector(index, provider, config)
        self._backoff = Backoff(*config.backoff)
        self._settled = asyncio.Event()  # connected, or closed for good
        self._on_change = on_change
        self._lock = threading.Lock()
        self._held = HeldInput()
        self._witness = witness
        self._calls = PendingCalls()
        self._failure: RemoteError | None = None  # the newest
        self._reset_asked = False
        self._seed: int | None = None
        self._endless = 0  # the number of the episode of a remote without a rewarder
        self._asked: EpisodeId | None = None  # the episode for which a fresh screen was asked
        self._fresh = 0  # ... and the generation that will hold it
        self._deadline: asyncio.TimerHandle | None = None
        self._over: asyncio.Future[Exception] | None = None
        self._task: asyncio.Task[None] | None = None

    @property
    def label(self) -> str:
        """`index (address)`, for errors and logs."""
        return f"{self.index} ({self.address or 'no address yet'})"

    def collect(self) -> tuple[Popped, RemoteError | None, int]:
        """Take what came since the last call, the newest error, and `cuts`: a loss is in all of them or in none."""
        with self._lock:
            popped = self.buffer.pop()
            error = self.errors[-1] if self.errors else None
            self.errors.clear()
            return popped, error, self.cuts

    def heard(self, moment: float) -> bool:
        """Wait until all that the rewarder had sent by `moment` is in the buffer; see `Witness.allow`."""
        return self._witness.heard(moment)

    @property
    def held(self) -> tuple[tuple[int, ...], PointerEvent | None]:
        """What the agent holds down on this remote now: the keysyms, and the pointer."""
        with self._lock:
            return self._held.keys, self._held.pointer

    def act(self, events: Sequence[Event], episode: EpisodeId | None) -> bool:
        """Send `events`, meant for `episode`, if that is the one being played; return whether it was."""
        with self._lock:
            session = self.session
            if session is None or episode is None or episode != self.playing or self._config.observer:
                return False
            self._held.note(events)
            session.send(events)
            return True

    # -- life ---------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Begin to connect, and never stop trying."""
        self._loop = asyncio.get_running_loop()
        self._task = asyncio.create_task(self._run(), name=f"remote {self.index}")
        self._task.add_done_callback(self._ended)

    async def close(self) -> None:
        """Hang up."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])
        self._enter(State.CLOSED)

    def _ended(self, task: asyncio.Task[None]) -> None:
        """A defect of ours ends the slot aloud, not in silence."""
        if not task.cancelled() and (error := task.exception()) is not None:
            self._lose(RemoteError(f"internal error: {error!r}", remote=self.label, stage="run"))
            self._enter(State.CLOSED)
            raise error

    async def _run(self) -> None:
        while not (failure := await self._live()).permanent:
            if isinstance(failure, ResetTimeout | StepTimeout):
                await self._connector.discard(self.label)
            await asyncio.sleep(self._backoff.pause(failure))
            self._enter(State.CONNECTING)
        self._enter(State.CLOSED)

    async def _live(self) -> RemoteError:
        """Connect, play until something ends it, report that, hang up; return what it was."""
        self._over = asyncio.get_running_loop().create_future()
        try:
            await self._connect()
            self._start_deadline()
            self._enter(State.RESETTING)
            if self._reset_asked:
                self._send_reset()
            self._update()
            raise await self._over
        except Exception as error:
            failure = remote_error(error, remote=self.label, stage=self._stage())
            if failure is None:
                raise
            self._lose(failure)
            return failure
        finally:
            await self._hang_up()
        raise AssertionError("a link ends with an exception")

    def _stage(self) -> str:
        return {State.CONNECTING: "connect", State.RESETTING: "reset"}.get(self.state, "run")

    def _lose(self, error: RemoteError) -> None:
        """Report the end of a connection: one step tells the error and the truncation."""
        self._leave_episode()
        self._settled.clear()
        self._calls.lose(error)
        self._log(error)
        with self._lock:
            if self.state is State.RUNNING and self.address is not None and self.address.rewarder is None:
                self.cuts += 1
            self.errors.append(error)
            self.buffer.disconnected("lost")
        self._enter(State.LOST)
        self._on_change()

    def _log(self, error: RemoteError) -> None:
        """Warn once of a failure that comes again at every attempt."""
        level = logging.DEBUG if str(error) == str(self._failure) else logging.WARNING
        logger.log(level, "! %s", error)
        self._failure = error

    def _enter(self, state: State) -> None:
        if state is not self.state:
            logger.debug("= remote %s is %s", self.label, state)
            self.state = state
            if state is State.CLOSED:
                self._settled.set()
            self._on_change()

    # -- connections --------------------------------------------------------------------------------------------

    async def _connect(self) -> None:
        self.address = await self._connector.acquire(self.label)
        # Pixels first: an episode that is announced before there is a screen would be cut when there is none.
        self.session = await self._connector.open_session(self.address, self._update)
        self.rewarder = await self._connector.open_rewarder(
            self.address, self.buffer, self._on_message, self.label
        )
        if self.rewarder is not None:
            self._watch(self.rewarder)
        self._connector.check_offer(self.rewarder, self.label)
        self._settled.set()
        logger.info("= remote %s connected", self.label)

    async def connected(self) -> RewarderClient | None:
        """Wait until the remote is connected; return its rewarder, None for a remote without one.

        Raises:
            CallFailed: it is not connected within `reset_timeout` seconds, or it is closed for good.
        """
        timeout = self._config.reset_timeout
        try:
            async with asyncio.timeout(timeout):
                while not self._settled.is_set():
                    await self._settled.wait()
        except TimeoutError:
            raise self._no_call(f"not connected within {timeout:g} s") from None
        if self.state is State.CLOSED:
            raise self._no_call("closed")
        return self.rewarder

    def _no_call(self, why: str) -> CallFailed:
        last = "" if self._failure is None else f", after {self._failure.stage}: {self._failure.args[0]}"
        return CallFailed(why + last, remote=self.label, stage="call")

    async def call(self, call: Call) -> object:
        """Have the environment called as soon as it is connected; see `PendingCalls.ask`."""
        return await self._calls.ask(await self.connected(), call, self.label, self._config.reset_timeout)

    def break_off(self, complaint: str) -> None:
        """The remote has told what cannot be: end the connection."""
        self._end(ProtocolError(complaint, remote=self.label, stage="run"))

    def _watch(self, rewarder: RewarderClient) -> None:
        async def closed() -> None:
            self._end(await rewarder.closed())

        self._watcher = asyncio.create_task(closed(), name=f"remote {self.index} rewarder")

    async def _hang_up(self) -> None:
        self._leave_episode()
        self._stop_deadline()
        self._asked = None
        session, self.session = self.session, None
        rewarder, self.rewarder = self.rewarder, None
        if rewarder is not None:
            self._watcher.cancel()
        await self._connector.close(session, rewarder, self.label)

    def _end(self, error: Exception) -> None:
        """This connection is over because of `error`; the first reason counts."""
        if self._over is not None and not self._over.done():
            self._over.set_result(error)

    # -- episodes -----------------------------------------------------------------------------------------------

    def reset(self, seed: int | None, env_id: str | None = None) -> None:
        """Ask for a new episode, now or as soon as there is a connection; with `env_id`, of that from now on."""
        self._reset_asked, self._seed = True, seed
        self._env_id = env_id or self._env_id
        self._endless += 1
        self._asked = None
        self._send_reset()
        self._update()

    def _send_reset(self) -> None:
        if self.rewarder is not None and not self._config.observer:
            self.rewarder.reset(self._env_id, self._seed, self._config.fps)
            self._start_deadline()

    def _on_message(self, envelope: Envelope) -> None:
        if self.rewarder is not None and self.rewarder.reset_error is not None:
            self._end(self.rewarder.reset_error)
        self._calls.hear(envelope, self.label)
        self._update()

    def _current(self) -> EpisodeId | None:
        """The newest episode, if it is running."""
        if self.address is not None and self.address.rewarder is not None:
            return self.buffer.running
        return EpisodeId.parse(self._endless) if self._reset_asked else None

    def _update(self) -> None:
        """Something arrived: work out which episode's pixels, if any, the framebuffer holds now."""
        session = self.session
        if session is None:
            return
        if session.error is not None:
            self._end(session.error)
            return
        self._witness.mark_since(session.frame_time)
        episode = self._current()
        self._set_playing(episode if self._is_shown(session, episode) else None)
        self._on_change()

    def _is_shown(self, session: Session, episode: EpisodeId | None) -> bool:
        """Whether every pixel in the framebuffer was drawn after `episode` was said to run."""
        if episode != self._asked:
            self._asked = episode
            self._fresh = session.refresh() if episode is not None else 0
        return episode is not None and session.generation >= self._fresh

    def _set_playing(self, episode: EpisodeId | None) -> None:
        if episode == self.playing:
            return
        self._leave_episode()
        if episode is not None:
            self.playing = episode
            self._backoff.restart()
            self._stop_deadline()
            self._enter(State.RUNNING)
        else:
            self._start_deadline()
            self._enter(State.RESETTING)

    def _leave_episode(self) -> None:
        """From here on no input reaches the remote, and what is held down is let go of."""
        with self._lock:
            self.playing = None
            if self.session is not None:
                self.session.send(self._held.release())

    def _start_deadline(self) -> None:
        self._stop_deadline()
        if self._reset_asked:
            timeout = self._config.reset_timeout
            self._deadline = asyncio.get_running_loop().call_later(timeout, self._reset_timed_out, timeout)

    def _stop_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _reset_timed_out(self, timeout: float) -> None:
        self._end(ResetTimeout(f"not running after {timeout:g} s", remote=self.label, stage="reset"))
