"""Remotes in sandboxes of agent-sandbox (kubernetes-sigs/agent-sandbox): claims of its warm pools."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar

import msgspec

from rewarder.sanitize import clean
from universe_client.errors import ConfigError
from universe_client.providers.address import REWARDER_PORT, VNC_PORT
from universe_client.providers.kubernetes.claims import Claim, ClaimingProvider, Phase
from universe_client.providers.kubernetes.cluster import ClusterError, Kind, convert
from universe_client.providers.provider import RemoteAddress

logger = logging.getLogger(__name__)

SANDBOX_CLAIM = Kind("extensions.agents.x-k8s.io", "v1beta1", "sandboxclaims", "SandboxClaim")
_OVER = ("ClaimExpired", "SandboxExpired", "PodFailed", "PodSucceeded")
_REFUSED = ("TemplateNotFound", "WarmPoolNotFound", "InvalidMetadata")
_RENEWALS = 3  # in the time of a lease


@dataclass(slots=True, kw_only=True)
class SandboxProvider(ClaimingProvider):
    """Claims a sandbox for each remote from a warm pool (`SandboxClaim` of `extensions.agents.x-k8s.io/v1beta1`).

    The addresses are those of pods: the agent must run in the cluster, or on its network. A claim expires
    (`shutdownTime`) when it has not been renewed for `lease` seconds; agent-sandbox then deletes claim and pod. So they
    also end, after that time, when the agent is killed or loses the cluster. A remote whose pod ends, is moved or does
    not answer is claimed again.

    Not yet tried on a real cluster; tested with `universe_client.providers.kubernetes.fake`.

    Args:
        n, access, start_timeout, password, tls: see `ClaimingProvider`.
        warm_pool: the name of the `SandboxWarmPool`.
        lease: seconds for which a claim outlives its agent, at least 10; far more than the clocks of agent and cluster
            differ.
        vnc_port: where the pods serve VNC.
        rewarder_port: where their rewarders listen.

    Raises:
        ConfigError: `n` or `lease` is too small, or the official client is not installed.

    Example:
        provider = SandboxProvider(16, warm_pool="neon-drive", access=Access("agents"))
        env = universe_client.make(None, provider)
    """

    warm_pool: str
    lease: float = 600.0
    vnc_port: int = VNC_PORT
    rewarder_port: int = REWARDER_PORT
    _renewing: asyncio.Task[None] | None = field(default=None, init=False, repr=False)
    name: ClassVar[str] = "sandbox"
    kind: ClassVar[Kind] = SANDBOX_CLAIM

    def __post_init__(self) -> None:
        ClaimingProvider.__post_init__(self)  # `super()` fails in a dataclass with slots
        if self.lease < 10:
            raise ConfigError(f"lease={self.lease!r} is less than 10 seconds")

    async def _obtain(self, claim: Claim) -> RemoteAddress:
        if self._renewing is None:
            self._renewing = asyncio.create_task(self._renew(), name="leases of claims")
        await self._requested(claim, self._body(claim), SANDBOX_CLAIM)
        claim.phase = Phase.POD
        async for found in self._cluster.changes(SANDBOX_CLAIM, claim.name):
            address = self._read(claim, found)
            if address is not None:
                return address
        raise ClusterError("somebody deleted it")

    async def _locate(self, claim: Claim) -> RemoteAddress | None:
        try:
            return self._read(claim, await self._cluster.get(SANDBOX_CLAIM, claim.name))
        except _Over:
            return None

    def _read(self, claim: Claim, found: Any) -> RemoteAddress | None:
        """Return the address in the status of a claim; None while there is none."""
        if found is None:
            raise _Over("somebody deleted it, or it expired")
        status = convert(found, _SandboxClaim).status
        ready = next((each for each in status.conditions if each.type == "Ready"), _Condition())
        claim.detail = clean(f"{ready.reason}: {ready.message}") if ready.reason else ""
        if ready.reason in _OVER:
            raise _Over("it is over")
        if ready.reason in _REFUSED:
            raise ClusterError("it was refused", permanent=True)
        if ready.status != "True" or not status.sandbox.podIPs:
            return None
        claim.detail = ""
        return self._address(status.sandbox.podIPs[0], self.vnc_port, self.rewarder_port)

    def _body(self, claim: Claim) -> dict[str, Any]:
        metadata = {"name": claim.name, "labels": self._labels(claim), "annotations": self._annotations()}
        lifecycle = {"shutdownTime": self._expiry(), "shutdownPolicy": "Delete"}
        spec = {"warmPoolRef": {"name": self.warm_pool}, "lifecycle": lifecycle}
        return {"metadata": metadata, "spec": spec}

    def _expiry(self) -> str:
        return f"{datetime.now(UTC) + timedelta(seconds=self.lease):%Y-%m-%dT%H:%M:%SZ}"

    async def _renew(self) -> None:
        while True:
            await asyncio.sleep(self.lease / _RENEWALS)
            await asyncio.gather(*map(self._extend, list(self._claims.values())))

    async def _extend(self, claim: Claim) -> None:
        change = {"spec": {"lifecycle": {"shutdownTime": self._expiry()}}}
        try:
            await self._cluster.patch(SANDBOX_CLAIM, claim.name, change)
        except ClusterError as error:
            logger.warning("! the lease of claim %s was not renewed: %s", claim.name, error)

    async def close(self) -> None:
        """Give up all claims. This does nothing in a fork of the process that made them."""
        if self._renewing is not None and not self._home.is_elsewhere:
            self._renewing.cancel()
            await asyncio.wait([self._renewing])
        await ClaimingProvider.close(self)


class _Over(ClusterError):
    """The claim has no remote any more."""


class _Condition(msgspec.Struct):
    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""


class _Sandbox(msgspec.Struct):
    podIPs: list[str] = []


class _Status(msgspec.Struct):
    conditions: list[_Condition] = []
    sandbox: _Sandbox = msgspec.field(default_factory=_Sandbox)


class _SandboxClaim(msgspec.Struct):
    status: _Status = msgspec.field(default_factory=_Status)
