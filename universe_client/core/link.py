"""The life of one remote on the event loop's thread: connecting, resetting, running, and connecting again.

    CONNECTING ──> RESETTING ──> RUNNING ──> RESETTING ...        any of them ──> LOST ──> CONNECTING
                                                                  close() or a permanent error ──> CLOSED

RUNNING means that conditions 1 and 2 of `frame_rule` hold for the newest episode.

The methods and properties of the first section may be used on the agent's thread; the others run on the event loop's.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from rewarder.client import RewarderClient
from rewarder.protocol.buffer import RewardBuffer
from rewarder.protocol.episode import EpisodeId
from rewarder.protocol.messages import Call, Envelope, Reset
from universe_client.config import Config
from universe_client.core.backoff import Backoff
from universe_client.core.calls import PendingCalls
from universe_client.core.connection import Connection
from universe_client.core.event_loop.progress import Progress
from universe_client.core.event_loop.threads import Waiters
from universe_client.core.input.gate import InputGate
from universe_client.core.input.held import Held
from universe_client.core.pace import Pace
from universe_client.core.unreported import Unreported
from universe_client.errors import (
    CallFailed,
    ProtocolError,
    RemoteError,
    ResetTimeout,
    StepTimeout,
    remote_error,
)
from universe_client.providers.provider import Provider, RemoteAddress
from vnc.events import Event, TimedEvents
from vnc.session import Session

logger = logging.getLogger(__name__)


class State(StrEnum):
    """A state of a remote's life; see the module's docstring."""

    CONNECTING = "connecting"
    RESETTING = "resetting"
    RUNNING = "running"
    LOST = "lost"
    CLOSED = "closed"


@dataclass(slots=True)
class Request:
    """The newest reset that the agent has asked for.

    Attributes:
        env_id: what the remote is to play; None leaves it to the remote.
        seed: the seed of the episode; None leaves it to the remote.
        number: how many resets there have been; it is also the episode id of a remote without a rewarder.
    """

    env_id: str | None
    seed: int | None = None
    number: int = 0


class Link:
    """Keeps one remote connected, resets it, and publishes which episode the agent may act in.

    Attributes:
        index: the number of the remote.
        config: how the remote is treated.
        state: see the module's docstring.
        connection: the VNC session and the rewarder's connection.
        gate: passes the agent's input on.
        pace: what real time and lock-step do differently.
        unreported: what the agent has not received yet.
        loop: the event loop, from `start` on.
    """

    def __init__(
        self,
        index: int,
        env_id: str | None,
        provider: Provider,
        config: Config,
        progress: Progress,
        on_change: Callable[[], None],
        waiters: Waiters,
        make_pace: Callable[[Link], Pace],
    ) -> None:
        """Prepare the link; `start` begins to connect.

        Args:
            index, env_id, provider, config: see `RemoteVector`.
            progress: knows how far the event loop has processed what has arrived.
            on_change: called when there is news for the agent.
            waiters: the agent's threads that wait for news.
            make_pace: makes the `pace`.
        """
        self.index, self.config = index, config
        self.state = State.CONNECTING
        self.connection = Connection(index, provider, config)
        self.pace = make_pace(self)
        self.unreported = Unreported()
        self.gate = InputGate()
        self.loop: asyncio.AbstractEventLoop
        self._request = Request(env_id)
        self._progress = progress
        self._on_change = on_change
        self._waiters = waiters
        self._calls = PendingCalls()
        self._backoff = Backoff(*config.backoff)
        self._failure: RemoteError | None = None  # the newest
        self._deadline: asyncio.TimerHandle | None = None  # of the reset
        self._ready = asyncio.Event()  # set while connected, and when closed permanently
        self._task: asyncio.Task[None] | None = None

    # -- for both threads ---------------------------------------------------------------------------------------

    @property
    def label(self) -> str:
        """`index (address)`, for errors and logs."""
        return self.connection.label

    @property
    def address(self) -> RemoteAddress | None:
        """Where the remote listens, or listened last; None before its provider has started it."""
        return self.connection.address

    @property
    def session(self) -> Session | None:
        """The VNC session; None while there is none."""
        return self.connection.session

    @property
    def rewarder(self) -> RewarderClient | None:
        """The connection to the rewarder; None while there is none."""
        return self.connection.rewarder

    @property
    def buffer(self) -> RewardBuffer:
        """The rewards that the agent has not received yet."""
        return self.unreported.buffer

    @property
    def has_rewarder(self) -> bool:
        """Whether the remote has a rewarder; True while its address is unknown."""
        return self.connection.has_rewarder

    @property
    def playing(self) -> EpisodeId | None:
        """The episode that the agent may act in, and whose frames it may see; None if there is none."""
        return self.gate.playing

    @property
    def running(self) -> EpisodeId | None:
        """The newest episode, if it is running: condition 1 of `frame_rule`."""
        if self.has_rewarder:
            return self.buffer.running
        return EpisodeId.parse(self._request.number) if self._request.number else None

    @property
    def held(self) -> Held:
        """What the agent holds down on this remote: the keysyms, and the newest pointer event."""
        return self.gate.held

    def send(
        self,
        events: Sequence[Event],
        episode: EpisodeId | None,
        transmit: Callable[[Session, Sequence[Event]], None],
    ) -> bool:
        """Call `transmit` with `events` if `episode` is being played; return whether it is."""
        return not self.config.observer and self.gate.send(events, episode, transmit)

    def plan(self, since: float, timed: Sequence[TimedEvents], episode: EpisodeId | None) -> bool:
        """Plan input if `episode` is being played; return whether it is. See `InputGate.plan`."""
        return not self.config.observer and self.gate.plan(since, timed, episode)

    def await_processed(self, moment: float) -> bool:
        """Wait until all messages of the rewarder that arrived by `moment` are processed; see `Progress.allow`."""
        return not self.has_rewarder or self._progress.await_processed(moment)

    def call_soon(self, function: Callable[..., object], *args: object) -> None:
        """Call `function` on the event loop's thread."""
        self.loop.call_soon_threadsafe(function, *args)

    # -- life ---------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Begin to connect; from now on the link reconnects until it is closed."""
        self.loop = asyncio.get_running_loop()
        self._task = asyncio.create_task(self._run(), name=f"remote {self.index}")
        self._task.add_done_callback(self._stopped)

    async def close(self) -> None:
        """Disconnect permanently."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])
        self._enter(State.CLOSED)

    def _stopped(self, task: asyncio.Task[None]) -> None:
        """Report a defect of this package as the remote's error, and raise it in the event loop."""
        if not task.cancelled() and (error := task.exception()) is not None:
            self._lose(RemoteError(f"internal error: {error!r}", remote=self.label, stage="run"))
            self._enter(State.CLOSED)
            raise error

    async def _run(self) -> None:
        while not (failure := await self._connect_and_play()).permanent:
            if isinstance(failure, ResetTimeout | StepTimeout):
                await self.connection.discard()
            await asyncio.sleep(self._backoff.pause(failure))
            self._enter(State.CONNECTING)
        self._enter(State.CLOSED)

    async def _connect_and_play(self) -> RemoteError:
        """Connect, play until an error ends the connection, and return that error."""
        try:
            await self.connection.open(self.buffer, self._see, self._receive)
            if self.session is not None:
                self._waiters.add(self.session)
            self._ready.set()
            self._start_deadline()
            self._enter(State.RESETTING)
            if self._request.number:
                self._send_reset()
            self.update()
            raise await self.connection.ended()
        except Exception as error:
            failure = remote_error(error, remote=self.label, stage=self._stage())
            if failure is None:
                raise
            self._lose(failure)
            return failure
        finally:
            self.gate.close()
            self._stop_deadline()
            self.pace.forget()
            if self.session is not None:
                self._waiters.remove(self.session)
            await self.connection.close()

    def _stage(self) -> str:
        return {State.CONNECTING: "connect", State.RESETTING: "reset"}.get(self.state, "run")

    def _lose(self, error: RemoteError) -> None:
        """The connection has ended: the next step reports `error` and the truncation together."""
        self.gate.close()
        self._ready.clear()
        self._calls.lose(error)
        self._log(error)
        was_running = self.state is State.RUNNING
        self.unreported.lose(error, ends_endless=was_running and not self.has_rewarder)
        self._enter(State.LOST)
        self.wake()

    def _log(self, error: RemoteError) -> None:
        """Log `error`; at level WARNING only if the attempt before failed in another way."""
        level = logging.DEBUG if str(error) == str(self._failure) else logging.WARNING
        logger.log(level, "! %s", error)
        self._failure = error

    def _enter(self, state: State) -> None:
        self.pace.enter(state)
        if state is self.state:
            return
        logger.debug("= remote %s is %s", self.label, state)
        self.state = state
        if state is State.CLOSED:
            self._ready.set()
        self.wake()

    def wake(self, always: bool = False) -> None:
        """Tell the agent that there is something to look at; without `always`, only if no step is pending."""
        if always or not self.pace.is_quiet:
            self._on_change()

    def end(self, error: Exception) -> None:
        """End the connection because of `error`; if several errors end it, the first is reported."""
        self.connection.end(error)

    def break_off(self, complaint: str) -> None:
        """End the connection because the remote sent invalid data, which `complaint` describes."""
        self.end(ProtocolError(complaint, remote=self.label, stage="run"))

    # -- calls of the environment -------------------------------------------------------------------------------

    async def connected(self) -> RewarderClient | None:
        """Wait until the remote is connected; return its rewarder, None for a remote without one.

        Raises:
            CallFailed: it is not connected within `reset_timeout` seconds, or is closed permanently.
        """
        timeout = self.config.reset_timeout
        try:
            async with asyncio.timeout(timeout):
                while not self._ready.is_set():
                    await self._ready.wait()
        except TimeoutError:
            raise self._no_call(f"not connected within {timeout:g} s") from None
        if self.state is State.CLOSED:
            raise self._no_call("closed")
        return self.rewarder

    def _no_call(self, why: str) -> CallFailed:
        last = "" if self._failure is None else f", after {self._failure.stage}: {self._failure.args[0]}"
        return CallFailed(why + last, remote=self.label, stage="call")

    async def call(self, call: Call) -> object:
        """Call the environment as soon as the remote is connected; see `PendingCalls.ask`."""
        return await self._calls.ask(await self.connected(), call, self.label, self.config.reset_timeout)

    # -- episodes -----------------------------------------------------------------------------------------------

    def reset(self, seed: int | None, env_id: str | None = None) -> None:
        """Request a new episode, now or as soon as the remote is connected.

        Args:
            seed: the seed of the episode.
            env_id: what the remote plays from now on; None changes nothing.
        """
        request = self._request
        self._request = Request(env_id or request.env_id, seed, request.number + 1)
        self.pace.forget()
        self._send_reset()
        self.update()

    def _send_reset(self) -> None:
        if self.rewarder is not None and not self.config.observer:
            request, config = self._request, self.config
            self.rewarder.reset(Reset(request.env_id, request.seed, config.fps, config.time_scale))
            self._start_deadline()

    def _receive(self, envelope: Envelope) -> None:
        """Process a message of the rewarder; it is in the buffer already."""
        self.pace.receive(envelope)
        if self.rewarder is not None and self.rewarder.reset_error is not None:
            self.end(self.rewarder.reset_error)
        self._calls.receive(envelope, self.label)
        self.update()

    def _see(self) -> None:
        """The session has news: a frame, or something rarer."""
        if self.session is not None:
            self._progress.mark_since(self.session.frame_time)
        self.update()

    def update(self) -> None:
        """Something has arrived: find out which episode is being played."""
        session = self.session
        if session is None:
            return
        if session.error is not None:
            self.end(session.error)
            return
        if not self._ready.is_set():
            return  # a channel is still being opened, and the reset has not been requested
        running = self.running
        self._play(session, running if self.pace.shows(session, running) else None)
        self.wake()

    def _play(self, session: Session, episode: EpisodeId | None) -> None:
        if episode == self.playing:
            return
        self.gate.close()
        if episode is not None:
            self.gate.open(session, episode)
            self._backoff.restart()
            self._stop_deadline()
            self._enter(State.RUNNING)
        else:
            self._start_deadline()
            self._enter(State.RESETTING)

    def _start_deadline(self) -> None:
        if self.pace.is_frozen:
            return
        self._stop_deadline()
        if self._request.number:
            timeout = self.config.reset_timeout
            self._deadline = self.loop.call_later(timeout, self._time_out, timeout)

    def _stop_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _time_out(self, timeout: float) -> None:
        self.end(ResetTimeout(f"not running after {timeout:g} s", remote=self.label, stage="reset"))
