"""Remotes as Ray actors on the nodes of a cluster: placed where there is room, and moved when a node dies."""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections import defaultdict
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, ClassVar

from rewarder.serving import Serving
from universe_client.errors import ConfigError, NoRoom, ProviderError
from universe_client.home import Home
from universe_client.providers.containers.owner import SESSION, Owner
from universe_client.providers.provider import RemoteAddress
from universe_client.providers.ray import system
from universe_client.providers.ray.claim import Claim
from universe_client.providers.ray.records import (
    KINDS,
    TAKEN_DOWN,
    Kind,
    Plan,
    Refusal,
    Resources,
    kind_for,
    usual_resources,
)
from universe_client.providers.ray.system import ActorKilled, ClusterError

logger = logging.getLogger(__name__)

_PATIENCE = 0.9
"""The share of `start_timeout` for which `acquire` waits for a place; the caller gives up after all of it."""
_SHORT = 0.25
"""The share of `start_timeout` after which a wait for a place leaves too little time to start the remote."""


class Phase(StrEnum):
    """The steps of a remote's start."""

    PLACE = "place in the cluster"
    START = "start"


@dataclass(slots=True)
class RayProvider:
    """Starts remotes on the nodes of a Ray cluster (`ray:N`).

    Each actor runs a few remotes on one node. Pixels and rewards come straight from there: over TLS, with a certificate
    and passwords that are made for the session; from the agent's own node as those of `embedded:N`, `process:N` and
    `docker:N`. Actors of a node that has died are replaced on other nodes. While no node has room, claims wait, and a
    cluster that scales itself sees them. All actors end with the agent's process.

    Args:
        n: the number of remotes, at least 1.
        env_id: the environment to play.
        start_timeout: seconds that one remote may take to start, once its actor has a place.
        serving: the options of each remote; where it listens is the provider's choice.
        kind: "embedded", "process" or "docker"; None: what plays `env_id` without containers.
        reference: for `kind="docker"`, `NAME[:TAG]` of an image of your own; the nodes' daemons have to have it.
        resources: what each remote reserves; None reserves the usual for its kind.
        remotes_per_actor: how many remotes one actor runs, and one placement decides about.
        address: of the cluster; None: the one that this process is connected to, that of `$RAY_ADDRESS`, that of this
            machine, or a new one.
        placement_group: a placement group of Ray, whose bundles the actors use; None spreads them over the nodes.

    Attributes:
        session: a random name, which is part of the actors' names; see `universe-client down`.

    Raises:
        ConfigError: an argument is invalid, Ray is not installed, or there is no cluster.
    """

    n: int
    env_id: str
    start_timeout: float = 60.0
    serving: Serving = field(default_factory=Serving)
    kind: Kind | None = None
    reference: str | None = None
    resources: Resources | None = None
    remotes_per_actor: int = 4
    address: str | None = None
    placement_group: Any = None
    session: str = field(default_factory=lambda: secrets.token_hex(4), init=False)
    _claims: dict[int, Claim] = field(default_factory=dict, init=False, repr=False)
    _turns: defaultdict[int, asyncio.Lock] = field(init=False, repr=False)
    _starting: set[int] = field(default_factory=set, init=False, repr=False)
    _endings: set[asyncio.Task[None]] = field(default_factory=set, init=False, repr=False)
    _ended: str | None = field(default=None, init=False, repr=False)
    _job: str = field(init=False, repr=False)
    _node: str = field(init=False, repr=False)
    _home: Home = field(default_factory=Home, init=False, repr=False)
    name: ClassVar[str] = "ray"

    def __post_init__(self) -> None:
        self._check()
        system.connect(self.address)
        self._job, self._node = system.this_job(), system.this_node()
        self._turns = defaultdict(asyncio.Lock)

    def _check(self) -> None:
        if self.n < 1:
            raise ConfigError(f"{self.name}:{self.n} has no remotes: the number is at least 1")
        if self.remotes_per_actor < 1:
            raise ConfigError(f"remotes_per_actor={self.remotes_per_actor} is not at least 1")
        self.kind = self.kind or ("docker" if self.reference else kind_for(self.env_id))
        if self.kind not in KINDS:
            raise ConfigError(f"kind={self.kind!r} is none of {', '.join(KINDS)}")
        if self.reference and self.kind != "docker":
            raise ConfigError(f"reference={self.reference!r} is an image, and kind={self.kind!r} has none")
        self.resources = self.resources or usual_resources(self.kind, self.env_id, self.reference)

    def phase(self, index: int) -> str | None:
        """Return the step of `acquire` that remote `index` waits for; None once it is started."""
        claim = self._claims.get(index // self.remotes_per_actor)
        if claim is None or not claim.is_placed:
            return Phase.PLACE
        return Phase.START if index in self._starting else None

    async def acquire(self, index: int) -> RemoteAddress:
        """Return the address of remote `index`; start it, on another node if its node has died.

        Raises:
            NoRoom: no node has room for it yet; its claim remains.
            ProviderError: it did not start.
            LocalStateError: this process is a fork of the one that started the remotes.
        """
        self._home.enter()
        self._starting.add(index)
        try:
            return await self._acquire(index)
        except ClusterError as error:
            raise self._failure(index, str(error)) from error
        finally:
            self._starting.discard(index)

    async def _acquire(self, index: int) -> RemoteAddress:
        group, slot = divmod(index, self.remotes_per_actor)
        claim = await self._claim(index, group)
        if not claim.placed.done():
            await self._wait_for_place(index, claim)
        try:
            claim.placed.result()
        except ActorKilled:
            raise self._refused(index, TAKEN_DOWN) from None
        except ClusterError:
            self._forget(group, claim)
            raise
        answer = await claim.start(slot, self.start_timeout)
        if isinstance(answer, RemoteAddress):
            return answer
        raise self._refused(index, answer)

    async def _wait_for_place(self, index: int, claim: Claim) -> None:
        began = time.monotonic()
        await asyncio.wait([claim.placed], timeout=_PATIENCE * self.start_timeout)
        waited = time.monotonic() - began
        if not claim.placed.done():
            wanted = self._reserved.of(len(claim.plan.indexes))
            what = f"no node has had room for its actor for {waited:.0f} s; its claim of {wanted} remains"
        elif waited > _SHORT * self.start_timeout:
            what = f"its actor has a place after {waited:.0f} s; the remote starts next"
        else:
            return
        raise NoRoom(what, remote=f"{index} ({self.name})", stage="start")

    async def _claim(self, index: int, group: int) -> Claim:
        """Return the claim of a group of remotes: a new one if its actor is lost."""
        async with self._turns[group]:
            claim = self._claims.get(group)
            if claim is not None and claim.is_placed and not await self._still_answers(index, claim):
                self._forget(group, claim)
            self._check_open(index)
            if group not in self._claims:
                self._claims[group] = Claim(self._plan(group), self._reserved, self.placement_group)
            return self._claims[group]

    async def _still_answers(self, index: int, claim: Claim) -> bool:
        try:
            return await claim.still_answers()
        except ActorKilled:
            raise self._refused(index, TAKEN_DOWN) from None

    def _check_open(self, index: int) -> None:
        if not system.is_connected() or system.this_job() != self._job:
            self._ended = "this process has left the Ray cluster (ray.shutdown)"
        if self._ended is not None:
            failure = self._failure(index, self._ended)
            failure.permanent = True
            raise failure

    def _forget(self, group: int, claim: Claim) -> None:
        """Replace the claim at the next `acquire`. Its actor may still run, where it cannot be reached."""
        if self._claims.get(group) is claim:
            del self._claims[group]
            self._end(claim)

    def _end(self, claim: Claim) -> None:
        ending = asyncio.create_task(claim.end(), name=f"end of {claim.plan.name}")
        self._endings.add(ending)
        ending.add_done_callback(self._endings.discard)

    @property
    def _reserved(self) -> Resources:
        assert self.resources is not None
        return self.resources

    def _plan(self, group: int) -> Plan:
        assert self.kind is not None
        first = group * self.remotes_per_actor
        return Plan(
            name=f"universe-client-{self.session}-{group}-{secrets.token_hex(2)}",
            session=self.session,
            indexes=range(first, min(first + self.remotes_per_actor, self.n)),
            kind=self.kind,
            env_id=self.env_id,
            serving=self.serving,
            start_timeout=self.start_timeout,
            reference=self.reference,
            agent_node=self._node,
            owner={SESSION: self.session} | Owner.here().labels,
        )

    # -- failures and the end -----------------------------------------------------------------------------------

    def _failure(self, index: int, reason: str) -> ProviderError:
        return ProviderError(reason, remote=f"{index} ({self.name})", stage="start")

    def _refused(self, index: int, refusal: Refusal) -> ProviderError:
        if refusal.session_ended:
            self._ended = refusal.reason
            for claim in self._claims.values():
                self._end(claim)
            self._claims.clear()
        failure = self._failure(index, refusal.reason)
        failure.permanent = refusal.permanent
        return failure

    async def discard(self, index: int) -> None:
        """End remote `index`. A claim that waits for a place remains.

        This does nothing in a fork of the process that started it.
        """
        group, slot = divmod(index, self.remotes_per_actor)
        claim = self._claims.get(group)
        if claim is not None and not self._home.is_elsewhere:
            await claim.discard(slot)

    async def close(self) -> None:
        """End all actors and their remotes. This does nothing in a fork of the process that started them."""
        if self._home.is_elsewhere:
            return
        self._ended = self._ended or "the provider is closed"
        claims, self._claims = list(self._claims.values()), {}
        if system.is_connected() and system.this_job() == self._job:
            await asyncio.gather(*(claim.end() for claim in claims), *self._endings)
