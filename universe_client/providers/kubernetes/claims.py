"""What the providers of claims have in common: the life of a claim, from its request to its removal."""

from __future__ import annotations

import asyncio
import logging
import os
import platform
import secrets
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, ClassVar

from rewarder.client import RewarderAddress
from universe_client.errors import ConfigError, ProviderError
from universe_client.home import Home
from universe_client.providers.containers.answering import answers
from universe_client.providers.kubernetes.cluster import Access, Cluster, ClusterError, Kind, check_client
from universe_client.providers.provider import RemoteAddress
from vnc.session import VNCAddress
from vnc.tls import TLS
from vnc.vncauth import vnc_password

logger = logging.getLogger(__name__)

SESSION, CLAIM, AGENT = "universe-client.session", "universe-client.claim", "universe-client.agent"
_PATIENCE = 0.9
"""The share of `start_timeout` after which `acquire` fails, with a reason. The environment's own limit follows."""
_SPARE_CONNECTIONS = 8


class Phase(StrEnum):
    """The steps of a claim."""

    CLUSTER = "cluster"
    CLAIM = "claim"
    CAPACITY = "capacity"
    POD = "pod"


@dataclass(slots=True, eq=False)
class Claim:
    """One claim.

    Attributes:
        name: of the claim, unique.
        phase: the step that it waits for; None once it has a remote.
        detail: what the cluster says about that.
        address: of its remote.
        server: the name of the object that stands for its remote, if that is not the claim.
        request: the request for it that is under way or was the last one. It is never cancelled, because the cluster
            may have granted it.
    """

    name: str
    phase: Phase | None = Phase.CLUSTER
    detail: str = ""
    address: RemoteAddress | None = None
    server: str = ""
    request: asyncio.Task[Any] | None = None


@dataclass(slots=True, kw_only=True)
class ClaimingProvider(ABC):
    """A provider whose remotes run in pods that others have defined; it claims one for each remote.

    Args:
        n: the number of remotes, at least 1.
        access: the cluster and the namespace.
        start_timeout: seconds that `acquire` may take. A claim that waits longer, for example for a new node, stays,
            and the next `acquire` waits for it again.
        password: that of the remotes, from the Secret that their pods mount; None if they have none.
        tls: which certificate the remotes must present; None connects without TLS. The certificates of pods are not
            issued for their addresses, so give a fingerprint.

    Attributes:
        session: a random name that all claims of this provider carry as a label.
    """

    n: int = field(kw_only=False)
    access: Access = field(default_factory=Access)
    start_timeout: float = 60.0
    password: str | None = field(default=None, repr=False)
    tls: TLS | None = None
    session: str = field(default_factory=lambda: secrets.token_hex(4), init=False)
    _claims: dict[int, Claim] = field(default_factory=dict, init=False, repr=False)
    _removals: set[asyncio.Task[None]] = field(default_factory=set, init=False, repr=False)
    _open: Cluster | None = field(default=None, init=False, repr=False)
    _closed: bool = field(default=False, init=False, repr=False)
    _home: Home = field(default_factory=Home, init=False, repr=False)
    name: ClassVar[str]
    kind: ClassVar[Kind]  # of what is deleted at the end of a claim

    def __post_init__(self) -> None:
        if self.n < 1:
            raise ConfigError(f"{self.name}:{self.n} has no remotes: the number is at least 1")
        check_client()

    @abstractmethod
    async def _obtain(self, claim: Claim) -> RemoteAddress:
        """Wait for the remote of a claim, which is requested unless it has been.

        Raises:
            ClusterError: there will be none for this claim.
        """

    @abstractmethod
    async def _locate(self, claim: Claim) -> RemoteAddress | None:
        """Return where the remote of a claim is now; None if the claim has none any more.

        Raises:
            ClusterError: the API does not answer.
        """

    def phase(self, index: int) -> str | None:
        """Return the step of `acquire` that remote `index` waits for; None once it has a remote."""
        claim = self._claims.get(index)
        return Phase.CLUSTER if claim is None else claim.phase

    async def acquire(self, index: int) -> RemoteAddress:
        """Return the address of remote `index`; claim one if there is none, it is gone, or it does not answer.

        Raises:
            ProviderError: the claim failed, or has no remote within 0.9 `start_timeout`. In the second case it stays.
            LocalStateError: this process is a fork of the one that made the claims.
        """
        self._home.enter()
        claim = self._claims.get(index)
        if claim is not None and claim.address is not None:
            address = await self._still_there(index, claim)
            if address is not None:
                return address
            await self.discard(index)
        return await self._start(index)

    async def _still_there(self, index: int, claim: Claim) -> RemoteAddress | None:
        try:
            claim.address = await self._locate(claim)
        except ClusterError as error:
            raise self._failure(index, claim, str(error)) from error
        if claim.address is not None and await answers(claim.address):
            return claim.address
        what = "its remote has ended" if claim.address is None else f"{claim.address} does not answer"
        logger.warning("! %s", self._failure(index, claim, what))
        return None

    async def _start(self, index: int) -> RemoteAddress:
        if self._closed:
            raise ProviderError("the provider is closed", remote=self._label(index), stage="start")
        claim = self._claims.setdefault(index, self._new_claim(index))
        patience = _PATIENCE * self.start_timeout
        try:
            async with asyncio.timeout(patience):
                claim.address = await self._obtain(claim)
        except TimeoutError:
            what = f"waited for the {claim.phase} for {patience:g} s"
            raise self._failure(index, claim, what) from None
        except ClusterError as error:
            failure = self._failure(index, claim, str(error))
            failure.permanent = error.permanent
            await self.discard(index)
            raise failure from error
        claim.phase = None
        return claim.address

    def _new_claim(self, index: int) -> Claim:
        return Claim(f"universe-client-{self.session}-{index}-{secrets.token_hex(3)}")

    async def _requested(self, claim: Claim, body: dict[str, Any], kind: Kind) -> Any:
        """Request a claim and return the answer; if a request is under way, its answer."""
        if claim.request is None:
            claim.request = asyncio.create_task(self._cluster.create(kind, body), name=claim.name)
        claim.phase = Phase.CLAIM
        return await asyncio.shield(claim.request)

    @property
    def _cluster(self) -> Cluster:
        if self._open is None:
            self._open = Cluster(self.access, self.n + _SPARE_CONNECTIONS)
        return self._open

    def _labels(self, claim: Claim) -> dict[str, str]:
        return {SESSION: self.session, CLAIM: claim.name}

    def _annotations(self) -> dict[str, str]:
        """Return what tells people whose claim it is."""
        return {AGENT: f"process {os.getpid()} on {platform.node()}"}

    def _address(self, host: str, vnc_port: int, rewarder_port: int) -> RemoteAddress:
        short = None if self.password is None else vnc_password(self.password)
        return RemoteAddress(
            VNCAddress(host, vnc_port, short, None, self.tls),
            RewarderAddress(host, rewarder_port, self.password, self.tls),
        )

    def _failure(self, index: int, claim: Claim, what: str) -> ProviderError:
        detail = f"; the cluster says: {claim.detail}" if claim.detail else ""
        text = f"claim {claim.name}: {what}{detail}"
        return ProviderError(text, remote=self._label(index), stage="start")

    def _label(self, index: int) -> str:
        return f"{index} ({self.name})"

    async def discard(self, index: int) -> None:
        """Give up the claim of remote `index`, also while it waits; its pod is deleted.

        This does nothing in a fork of the process that made the claim.
        """
        if self._home.is_elsewhere:
            return
        claim = self._claims.pop(index, None)
        if claim is None:
            return
        removal = asyncio.create_task(self._remove(claim), name=f"removal of {claim.name}")
        self._removals.add(removal)
        removal.add_done_callback(self._removals.discard)
        await asyncio.shield(removal)  # a cancelled caller does not cancel the removal

    async def _remove(self, claim: Claim) -> None:
        if claim.request is None:
            return
        await _settled(claim.request)
        try:
            await self._cluster.delete(self.kind, {CLAIM: claim.name})
        except ClusterError as error:
            logger.warning("! claim %s could not be removed: %s", claim.name, error)

    async def close(self) -> None:
        """Give up all claims. This does nothing in a fork of the process that made them."""
        if self._home.is_elsewhere:
            return
        self._closed = True
        claims, self._claims = list(self._claims.values()), {}
        requests = [claim.request for claim in claims if claim.request is not None]
        for request in requests:
            await _settled(request)
        if requests:
            try:
                await self._cluster.delete(self.kind, {SESSION: self.session})
            except ClusterError as error:
                logger.warning("! the claims of session %s could not be removed: %s", self.session, error)
        await asyncio.gather(*self._removals)
        cluster, self._open = self._open, None
        if cluster is not None:
            await cluster.close()


async def _settled(request: asyncio.Task[Any]) -> None:
    """Wait for the answer to a request, which has a timeout of its own."""
    await asyncio.wait([request])
    if not request.cancelled():
        request.exception()  # retrieves it, or asyncio would log it
