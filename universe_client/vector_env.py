"""Universe's own face: lists, one entry per remote, and None for a remote that is resetting."""

from __future__ import annotations

import asyncio
import threading
import weakref
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, Self

from universe_client.config import Config
from universe_client.core.changed import Changed
from universe_client.core.idle import IdleDetector
from universe_client.core.info import blank
from universe_client.core.link import Link, State
from universe_client.core.lockstep import LockstepLink, LockstepRemote
from universe_client.core.loop import LoopThread
from universe_client.core.remote import Remote, Slot
from universe_client.core.remote_calls import RemoteCalls
from universe_client.core.witness import Witness
from universe_client.errors import ConfigError, LocalStateError
from universe_client.home import Home
from universe_client.providers import provider as find_provider
from universe_client.providers.provider import Provider
from universe_client.renamed import refuse_old_arguments
from universe_client.spaces import actions
from universe_client.spaces.events import EventSpace, ObservationSpace
from vnc.events import Event

ObservationN = list[dict[str, Any] | None]
StepResult = tuple[ObservationN, list[float | None], list[bool | None], dict[str, Any]]

DEFAULT_SCREEN = (1024, 768)
_HEARING = 0.25
"""Seconds that one look at all remotes may wait in all for an event loop that stands still."""


@refuse_old_arguments
class VectorEnv(RemoteCalls):
    """A vector of remotes that live in real time, whatever the agent does.

    Nothing here waits for the network, but `close`. `reset` returns at once; `observation_n[i]` is None until remote
    `i` has an episode running and the first whole frame of it has arrived. At the end of an episode `done_n[i]` is
    True once, and the remote resets by itself. A remote that fails is reported in its own slot and comes back when
    it can. docs/environment.md has the whole contract.

    Example:
        with universe_client.VectorEnv("builtin.NeonDrive-v0", remotes=4) as env:
            observation_n = env.reset()
            while True:
                action_n = [[("KeyEvent", "Left", True)] for _ in observation_n]
                observation_n, reward_n, done_n, info = env.step(action_n)
    """

    def __init__(
        self,
        env_id: str | None = None,
        remotes: int | str | Provider = 1,
        *,
        config: Config | None = None,
        **options: Any,
    ) -> None:
        """Start to connect to the remotes, in the background.

        Args:
            env_id: what they should play, such as `builtin.NeonDrive-v0`; None leaves it to them.
            remotes: a number of embedded remotes, `"embedded:4"`, `"process:4"`,
                `"vnc://host:5900+15900,..."`, or a provider object.
            config: how to treat them.
            options: single fields of `Config`, instead of `config`.

        Raises:
            ConfigError: an argument makes no sense; the message names it.
        """
        self.config = _config(config, options)
        self.env_id = env_id
        self._home = Home()
        self._home.enter()
        self.provider = find_provider(remotes, env_id, self.config.start_timeout, self.config.allowed_calls)
        self.n = self.provider.n
        self._changed = Changed()
        self._loop = LoopThread()
        self._witness = Witness(self._loop.call)
        self.remotes = [self._remote(index) for index in range(self.n)]
        links = [remote.link for remote in self.remotes]
        self._was_reset = False
        self._finalizer = weakref.finalize(self, _shut_down, self._loop, links, self.provider)
        for link in links:
            self._loop.call(link.start)
        self._idle = IdleDetector(
            self.config.idle_warning, lambda: sum(link.state is State.RUNNING for link in links)
        )
        if self.config.mode == "realtime" and not self.config.observer:
            self._loop.call(self._idle.start)

    def _remote(self, index: int) -> Remote:
        parts = (index, self.env_id, self.provider, self.config, self._witness, self._changed.set)
        if self.config.mode == "lockstep":
            return LockstepRemote(LockstepLink(*parts))
        return Remote(Link(*parts), self.config.observer)

    @property
    def unwrapped(self) -> VectorEnv:
        """This environment itself; wrappers have the same property."""
        return self

    @property
    def closed(self) -> bool:
        """Whether `close` has been called."""
        return not self._finalizer.alive

    @property
    def action_space(self) -> EventSpace:
        """The events for one remote; its size is that of the first screen seen, until then 1024x768."""
        return EventSpace(*self._screen())

    @property
    def observation_space(self) -> ObservationSpace:
        """The observations of one remote that is not resetting; size as in `action_space`."""
        return ObservationSpace(*self._screen())

    def _screen(self) -> tuple[int, int]:
        for remote in self.remotes:
            session = remote.link.session
            if session is not None:
                height, width, _ = session.shape
                return width, height
        return DEFAULT_SCREEN

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        mask: Sequence[bool] | None = None,
        env_ids: Sequence[str | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> ObservationN:
        """Ask every remote, or those of `mask`, for a new episode; return `[None] * n` at once.

        Args:
            seed: of the episodes: one per remote, or one number that remote `i` gets plus `i`.
            mask: which remotes; the others play on, and their entry is None here all the same.
            env_ids: what each is to play from now on; None, whole or for one remote, is what it plays already.
            options: there for Gymnasium's sake; must be empty.

        Raises:
            ConfigError: a length is not `n`, or there are options.
            LocalStateError: the environment is closed.
        """
        self._check_alive()
        seeds = self._seeds(seed)
        chosen = self._chosen(mask)
        games = [None] * self.n if env_ids is None else env_ids
        if len(games) != self.n:
            raise ConfigError(f"env_ids has {len(games)} entries for {self.n} remotes")
        if options:
            raise ConfigError(f"unknown reset options {sorted(options)}")
        for remote, wanted, its_seed, game in zip(self.remotes, chosen, seeds, games, strict=True):
            if wanted:
                remote.begin_reset()
                self._loop.call(remote.link.reset, its_seed, game)
        self._was_reset = True
        return [None] * self.n

    def _seeds(self, seed: int | Sequence[int | None] | None) -> Sequence[int | None]:
        if seed is None or isinstance(seed, int):
            return [None if seed is None else seed + index for index in range(self.n)]
        if len(seed) != self.n:
            raise ConfigError(f"seed has {len(seed)} entries for {self.n} remotes")
        return seed

    def _chosen(self, mask: Sequence[bool] | None) -> Sequence[bool]:
        if mask is None:
            return [True] * self.n
        if len(mask) != self.n:
            raise ConfigError(f"mask has {len(mask)} entries for {self.n} remotes")
        if not self._was_reset and not all(mask):
            raise LocalStateError("the first reset is for all remotes: call reset() without a mask")
        return mask

    def step(self, action_n: Sequence[Sequence[object]]) -> StepResult:
        """Send the actions and return what has come since the last step: `send`, then `recv`."""
        self.send(action_n)
        return self.recv()

    def send(self, action_n: Sequence[Sequence[object]]) -> None:
        """Put one list of events per remote on the wire; those for a remote without an observation are dropped.

        Raises:
            ConfigError: not `n` lists, or something in one of them is no event; nothing has been sent.
            LocalStateError: before the first `reset`, or after `close`.
        """
        self._check_ready()
        if len(action_n) != self.n:
            raise ConfigError(f"action_n has {len(action_n)} entries for {self.n} remotes")
        parsed = [actions.parse(action, slot) for slot, action in enumerate(action_n)]
        for index, events in enumerate(parsed):
            self.act(index, events)

    def act(self, index: int, events: Sequence[Event]) -> None:
        """Send events to one remote; in lock-step, once it has lived the tick of a step that was interrupted."""
        remote = self.remotes[index]
        if isinstance(remote, LockstepRemote) and not remote.idle:
            self._await_lockstep([remote], lambda remote: remote.idle)
        remote.send(events)

    def recv(self, mask: Sequence[bool] | None = None) -> StepResult:
        """Return `(observation_n, reward_n, done_n, info)`: the newest frames, all rewards since the last call.

        `reward_n[i]` and `done_n[i]` are None for a remote that has no rewarder; `info["n"][i]` is described in
        `universe_client.core.info`.

        Args:
            mask: which remotes to look at. What the others have is left for later; theirs is an empty slot:
                None, 0.0, False and a blank info.

        Raises:
            RemoteError: with `on_error="raise"`, what happened to the first remote that failed.
            LocalStateError: before the first `reset`, or after `close`.
        """
        slots = self.poll(mask, self.config.copy)
        return (
            [slot.observation for slot in slots],
            [slot.reward for slot in slots],
            [slot.done for slot in slots],
            {"n": [slot.info for slot in slots]},
        )

    def poll(self, mask: Sequence[bool] | None, copy: bool, hold: bool = False) -> list[Slot]:
        """Do what `recv` does, for another face: return the slots as they are. See `Remote.poll`."""
        self.settle(mask)
        self._changed.clear()
        if self.config.on_error == "raise":
            self._raise_error(mask)
        return [
            remote.poll(copy, hold) if mask is None or mask[index] else Slot(None, 0.0, False, blank())
            for index, remote in enumerate(self.remotes)
        ]

    def settle(self, mask: Sequence[bool] | None) -> None:
        """Begin a look at the remotes of `mask`; in lock-step, wait until they have lived their ticks."""
        self._check_ready()
        self._idle.stepped()
        self._witness.allow(_HEARING)
        if self.config.mode == "realtime":
            return
        waiting = [
            remote
            for index, remote in enumerate(self.remotes)
            if isinstance(remote, LockstepRemote) and (mask is None or mask[index])
        ]
        self._await_lockstep(waiting, lambda remote: remote.settled)

    def _await_lockstep(
        self, waiting: Sequence[LockstepRemote], is_over: Callable[[LockstepRemote], bool]
    ) -> None:
        while True:
            self._changed.clear()
            waiting = [remote for remote in waiting if not is_over(remote)]
            if not waiting:
                return
            if not self._changed.wait(self.config.reset_timeout):
                for remote in waiting:
                    remote.link.give_up()
            self._check_alive()

    def _raise_error(self, mask: Sequence[bool] | None) -> None:
        """Before anything is taken: what the others have, and what else the one that failed has, is left for later."""
        for index, remote in enumerate(self.remotes):
            error = remote.error_to_raise() if mask is None or mask[index] else None
            if error is not None:
                raise error

    def wait(self, timeout: float | None = None, forget: bool = False) -> bool:
        """Wait until something has come since the last `recv`; return whether it has.

        Args:
            timeout: in seconds; None waits for ever.
            forget: wait for what comes later the next time, without a `recv` in between.
        """
        self._home.enter()
        changed = self._changed.wait(timeout)
        if forget:
            self._changed.clear()
        return changed

    def follow(self, event: threading.Event) -> None:
        """Have `event` set, too, whenever something comes."""
        self._changed.followers.append(event)
        if self._changed.is_set():
            event.set()

    def truncate(self, index: int, reason: str) -> None:
        """End the episode that the agent last saw of one remote: its next step is truncated, then it resets.

        No effect when that episode is over already.
        """
        remote = self.remotes[index]
        if remote.end_episode(reason):
            self._loop.call(remote.link.reset, None)

    def lose(self, index: int, complaint: str) -> None:
        """Call a remote lost that has told what cannot be."""
        self._loop.call(self.remotes[index].link.break_off, complaint)

    def close(self) -> None:
        """Hang up, and give every remote back to its provider. Idempotent; in a forked process it does nothing."""
        if not self._home.is_elsewhere:
            self._finalizer()
            self._changed.set()

    def _check_ready(self) -> None:
        self._check_alive()
        if not self._was_reset:
            raise LocalStateError("step before reset: call reset() once, first")

    def _check_alive(self) -> None:
        if self.closed:
            raise LocalStateError("the environment is closed")
        self._home.enter()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<VectorEnv {self.env_id or 'any'} n={self.n}>"


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
