"""The remotes of one environment behind one object: what `VectorEnv` and Gymnasium's environments are built on."""

from __future__ import annotations

import asyncio
import threading
import time
import weakref
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from universe_client.config import Config
from universe_client.core.calls import RemoteCalls
from universe_client.core.event_loop.loop import LoopThread
from universe_client.core.event_loop.progress import Progress
from universe_client.core.event_loop.threads import Changed, OneThread, Waiters
from universe_client.core.idle import IdleDetector
from universe_client.core.info import blank
from universe_client.core.link import Link, State
from universe_client.core.lockstep.lockstep import LockStep
from universe_client.core.pace import RealTime
from universe_client.core.remote import Remote, Slot
from universe_client.core.watcher import Watcher, attach
from universe_client.errors import ConfigError, LocalStateError
from universe_client.home import Home
from universe_client.pacer import Pacer
from universe_client.providers import provider as find_provider
from universe_client.providers.provider import Provider
from vnc.events import Event, TimedEvents

DEFAULT_SCREEN = (1024, 768)
"""(width, height) in pixels that is assumed until the first remote is connected."""
_LOOP_LATE = 0.25
"""Seconds that one poll of all remotes may wait, in total, for an event loop that is blocked."""


class RemoteVector:
    """The remotes of one environment, and the event loop's thread that keeps them connected.

    Not public: it has what the environments need of each other's workings, and its methods may change in any version.

    Attributes:
        config: how the remotes are treated.
        env_id: what they were asked to play when the environment was made; None left it to them.
        provider: where they come from.
        n: how many there are.
        remotes: the agent's side of each.
    """

    def __init__(
        self,
        env_id: str | None,
        remotes: int | str | Provider,
        *,
        config: Config | None = None,
        **options: Any,
    ) -> None:
        """Start to connect to the remotes, in the background. See `VectorEnv` for the arguments."""
        self.config = _config(config, options)
        self.env_id = env_id
        self._home = Home()
        self._home.enter()
        self.provider = find_provider(remotes, env_id, self.config.start_timeout, self.config.allowed_calls)
        self.n = self.provider.n
        self._changed = Changed()
        self._loop = LoopThread()
        self._progress = Progress(self._loop.call, self._loop.is_idle)
        self._waiters = Waiters(self._changed.set)
        links = [self._link(index) for index in range(self.n)]
        self.remotes = [Remote(link) for link in links]
        self._calls = RemoteCalls(links, self._loop)
        self._one_thread = OneThread()
        self._is_lockstep = self.config.mode == "lockstep"
        if self._is_lockstep:
            self._waiters.stay()
        self._was_reset = False
        self._finalizer = weakref.finalize(self, _shut_down, self._loop, links, self.provider)
        for link in links:
            self._loop.call(link.start)
        self._idle = IdleDetector(
            self.config.idle_warning, lambda: sum(link.state is State.RUNNING for link in links)
        )
        if self.config.mode == "realtime" and not self.config.observer:
            self._loop.call(self._idle.start)

    def _link(self, index: int) -> Link:
        pace = LockStep if self.config.mode == "lockstep" else RealTime
        return Link(
            index,
            self.env_id,
            self.provider,
            self.config,
            self._progress,
            self._changed.set,
            self._waiters,
            pace,
        )

    @property
    def closed(self) -> bool:
        """Whether `close` has been called."""
        return not self._finalizer.alive

    def watch(self, index: int, watcher: Watcher) -> None:
        """Tell `watcher` of the sessions and episodes of one remote from now on."""
        self._loop.call(attach, self.remotes[index].link, watcher)

    @property
    def calls(self) -> RemoteCalls:
        """The methods and attributes of the remotes' environments.

        Raises:
            LocalStateError: after `close`, or in a forked process.
        """
        self.check_open()
        return self._calls

    @property
    def screen_size(self) -> tuple[int, int]:
        """(width, height) in pixels of the first screen that is connected; `DEFAULT_SCREEN` while none is."""
        for remote in self.remotes:
            session = remote.link.session
            if session is not None:
                height, width, _ = session.shape
                return width, height
        return DEFAULT_SCREEN

    @property
    def was_reset(self) -> bool:
        """Whether `reset` has been called."""
        return self._was_reset

    # -- resets -------------------------------------------------------------------------------------------------

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        mask: Sequence[bool] | None = None,
        env_ids: Sequence[str | None] | None = None,
    ) -> None:
        """Ask every remote, or those of `mask`, for a new episode. See `VectorEnv.reset`."""
        self.check_open()
        self._one_thread.check()
        seeds = self._seeds(seed)
        chosen = self._chosen(mask)
        games = [None] * self.n if env_ids is None else env_ids
        self._check_length("env_ids", games)
        for remote, wanted, its_seed, game in zip(self.remotes, chosen, seeds, games, strict=True):
            if wanted:
                remote.begin_reset()
                self._loop.call(remote.link.reset, its_seed, game)
        self._was_reset = True

    def _seeds(self, seed: int | Sequence[int | None] | None) -> Sequence[int | None]:
        if seed is None or isinstance(seed, int):
            return [None if seed is None else seed + index for index in range(self.n)]
        self._check_length("seed", seed)
        return seed

    def _chosen(self, mask: Sequence[bool] | None) -> Sequence[bool]:
        if mask is None:
            return [True] * self.n
        self._check_length("mask", mask)
        if not self._was_reset and not all(mask):
            raise LocalStateError("the first reset is for all remotes: call reset() without a mask")
        return mask

    def _check_length(self, name: str, values: Sequence[object]) -> None:
        if len(values) != self.n:
            raise ConfigError(f"{name} has {len(values)} entries for {self.n} remotes")

    # -- steps --------------------------------------------------------------------------------------------------

    def act(self, index: int, events: Sequence[Event], ticks: int = 1) -> bool:
        """Send events to one remote; in lock-step for `ticks` ticks, after those of an interrupted step.

        Return False if they were dropped.
        """
        remote = self.remotes[index]
        if self._is_lockstep and not remote.is_idle:
            self._await([remote], lambda remote: remote.is_idle)
        return remote.send(events, ticks)

    def plan(self, index: int, timed: Sequence[TimedEvents]) -> None:
        """Plan input of one remote, instead of what is planned for the first of these times or later.

        Without an entry, all that is planned is dropped. Call `check_timed` first.
        """
        if timed:
            self.remotes[index].plan(timed[0][0], [entry for entry in timed if entry[1]])
        else:
            self.remotes[index].link.gate.cancel()

    def check_timed(self) -> None:
        """Check that input may be planned.

        Raises:
            LocalStateError: in lock-step, or for the reasons of `check_reset`.
        """
        self.check_reset()
        if self._is_lockstep:
            raise LocalStateError(
                "actions cannot have times in lock-step, where the remotes wait for each step: "
                'send one action a tick, or use mode="realtime"'
            )

    def poll(self, mask: Sequence[bool] | None, copy: bool, hold: bool = False) -> list[Slot]:
        """Return what has arrived from each remote of `mask` since the last poll, and empty slots for the others.

        In lock-step it waits until the remotes have run their ticks. See `Remote.poll` for `copy` and `hold`.

        Raises:
            RemoteError: with `on_error="raise"`, the error of the first remote that failed.
            LocalStateError: before the first `reset`, or after `close`.
        """
        every = range(self.n)
        chosen = every if mask is None else [at for at in every if mask[at]]
        self.settle(chosen)
        found = self.poll_some(chosen, copy, hold)
        return [found[at] if at in found else Slot(None, 0.0, False, blank()) for at in every]

    def poll_some(self, indexes: Collection[int], copy: bool, hold: bool = False) -> dict[int, Slot]:
        """Return what has arrived from some of the remotes, by their indexes, after `settle`; see `poll`."""
        with self._one_thread:
            self._changed.clear()
            if self.config.on_error == "raise":
                self._raise_error(indexes)
            return {index: self.remotes[index].poll(copy, hold) for index in indexes}

    def expect_look(self, pacer: Pacer) -> None:
        """The next poll is at the deadline of `pacer`: have the frames before it not sent, if `updates` allows it."""
        look = pacer.deadline
        if look is None or not self.config.as_needed(pacer.step_rate):
            return
        for remote in self.remotes:
            remote.next_look(look)

    def settle(self, indexes: Collection[int]) -> None:
        """Prepare a poll of some of the remotes: in lock-step, wait until they have run their ticks."""
        with self._one_thread:
            self.check_reset()
            self._idle.stepped()
            self._progress.allow(_LOOP_LATE)
            if self._is_lockstep:
                self._await([self.remotes[index] for index in indexes], lambda remote: remote.is_settled)

    def _await(self, waiting: Sequence[Remote], is_over: Callable[[Remote], bool]) -> None:
        deadline = time.monotonic() + self.config.reset_timeout
        while True:
            self._changed.clear()
            late = []
            for remote in waiting:
                remote.link.pace.collect(deadline)
                # To look copies the frame, while the remotes behind this one still run.
                if not is_over(remote):
                    late.append(remote)
            waiting = late
            if not waiting:
                return
            if not self._changed.wait(deadline - time.monotonic()):
                for remote in waiting:
                    remote.link.pace.give_up()
                deadline = time.monotonic() + self.config.reset_timeout
            self.check_open()

    def _raise_error(self, indexes: Collection[int]) -> None:
        """Raise the first error before anything is taken, so that no slot loses what it has."""
        for index in indexes:
            error = self.remotes[index].error_to_raise()
            if error is not None:
                raise error

    def wait(self, timeout: float | None = None, forget: bool = False) -> bool:
        """Wait for news of any remote. See `VectorEnv.wait`."""
        self._home.enter()
        if self._is_lockstep and not self.closed:
            self._loop.call(self._watch)
        with self._waiters:
            changed = self._changed.wait(timeout)
        if forget:
            self._changed.clear()
        return changed

    def _watch(self) -> None:
        for remote in self.remotes:
            remote.link.pace.watch()

    def follow(self, event: threading.Event) -> None:
        """Also set `event` whenever something comes from a remote; because of frames only inside `listening`."""
        self._changed.followers.append(event)
        if self._changed.is_set():
            event.set()

    @property
    def listening(self) -> Waiters:
        """A context for a thread that waits for an event that `follow` has got."""
        return self._waiters

    @contextmanager
    def following(self, event: threading.Event) -> Iterator[None]:
        """As `follow`, inside the context."""
        self._changed.followers.append(event)
        try:
            with self._waiters:
                yield
        finally:
            self._changed.followers.remove(event)

    def allow_pauses(self) -> None:
        """Do not warn of an agent that does not step."""
        self._idle.stop()

    # -- single remotes -----------------------------------------------------------------------------------------

    def truncate(self, index: int, reason: str) -> None:
        """End the episode that the agent last saw of one remote, and reset the remote.

        The next poll reports the episode as truncated, with `reason` as its `end_reason`. No effect when that episode
        has ended already.

        Raises:
            LocalStateError: this process was forked from the one that made the environment.
        """
        self._home.enter()
        remote = self.remotes[index]
        if remote.end_episode(reason):
            self._loop.call(remote.link.reset, None)

    def lose(self, index: int, complaint: str) -> None:
        """Mark one remote as lost because it sent invalid data; `complaint` says which."""
        self._loop.call(self.remotes[index].link.break_off, complaint)

    # -- the end ------------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Disconnect, and give every remote back to its provider. See `VectorEnv.close`."""
        if not self._home.is_elsewhere:
            self._finalizer()
            self._changed.set()

    def check_reset(self) -> None:
        """Check that the remotes may be stepped.

        Raises:
            LocalStateError: before the first `reset`, after `close`, in a forked process, or while another thread uses
                the environment.
        """
        self.check_open()
        self._one_thread.check()
        if not self._was_reset:
            raise LocalStateError("step before reset: call reset() once, first")

    def check_open(self) -> None:
        """Check that the remotes may be used.

        Raises:
            LocalStateError: after `close`, or in a forked process.
        """
        if self.closed:
            raise LocalStateError("the environment is closed")
        self._home.enter()


def _config(config: Config | None, options: dict[str, Any]) -> Config:
    if config is not None:
        if options:
            raise ConfigError(f"both config and single options {sorted(options)}")
        return config
    unknown = options.keys() - set(Config.__slots__)
    if unknown:
        raise ConfigError(
            f"unknown option {sorted(unknown)[0]!r}: one of {', '.join(sorted(Config.__slots__))}"
        )
    return Config(**options)


def _shut_down(loop: LoopThread, links: list[Link], provider: Provider) -> None:
    async def close() -> None:
        await asyncio.gather(*(link.close() for link in links))
        await provider.close()

    loop.stop(close())
