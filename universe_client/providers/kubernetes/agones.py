"""Remotes that are game servers of Agones: allocations from its fleets."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any, ClassVar

import msgspec

from universe_client.providers.kubernetes.claims import Claim, ClaimingProvider, Phase
from universe_client.providers.kubernetes.cluster import ClusterError, Kind, convert
from universe_client.providers.provider import RemoteAddress

ALLOCATION = Kind("allocation.agones.dev", "v1", "gameserverallocations", "GameServerAllocation")
GAME_SERVER = Kind("agones.dev", "v1", "gameservers", "GameServer")
FLEET = "agones.dev/fleet"
VNC, REWARDER = "vnc", "rewarder"
_RETRY = 1.0
"""Seconds between two requests while the fleet has no server to give."""


@dataclass(slots=True, kw_only=True)
class AgonesProvider(ClaimingProvider):
    """Allocates a game server for each remote from a fleet (`GameServerAllocation` of `allocation.agones.dev/v1`).

    The addresses are ports of the cluster's nodes, so the agent may run outside of the cluster. The fleet's template
    names its two ports `vnc` and `rewarder`. At the end the game servers are deleted, and the fleet makes new ones. An
    allocation has no time limit: start the remotes with `--idle-timeout`, so that those of an agent that was killed
    end by themselves; Agones then replaces them. A remote that ends, becomes unhealthy or does not answer is allocated
    again.

    Not yet tried on a real cluster; tested with `universe_client.providers.kubernetes.fake`.

    Args:
        n, access, start_timeout, password, tls: see `ClaimingProvider`.
        fleet: the name of the fleet.

    Raises:
        ConfigError: `n` is less than 1, or the official client is not installed.

    Example:
        provider = AgonesProvider(16, fleet="neon-drive", access=Access("agents"))
        env = universe_client.make(None, provider)
    """

    fleet: str
    name: ClassVar[str] = "agones"
    kind: ClassVar[Kind] = GAME_SERVER

    async def _obtain(self, claim: Claim) -> RemoteAddress:
        while True:
            answer = await self._requested(claim, self._body(claim), ALLOCATION)
            status = convert(answer, _Allocation).status
            if status.state == "Allocated":
                claim.server, claim.detail = status.gameServerName, ""
                return self._where(status)
            claim.phase, claim.detail = Phase.CAPACITY, f"{status.state}: fleet {self.fleet}"
            claim.request = None
            await asyncio.sleep(_RETRY)

    async def _locate(self, claim: Claim) -> RemoteAddress | None:
        found = await self._cluster.get(GAME_SERVER, claim.server)
        if found is None:
            return None
        status = convert(found, _GameServer).status
        return self._where(status) if status.state == "Allocated" else None

    def _body(self, claim: Claim) -> dict[str, Any]:
        selector = {"matchLabels": {FLEET: self.fleet}}
        metadata = {"labels": self._labels(claim), "annotations": self._annotations()}
        # Distributed, because a node that dies then takes fewer remotes with it
        return {"spec": {"selectors": [selector], "scheduling": "Distributed", "metadata": metadata}}

    def _where(self, status: _Status) -> RemoteAddress:
        ports = {port.name: port.port for port in status.ports}
        if not ports.keys() >= {VNC, REWARDER}:
            raise ClusterError(
                f"the game servers of fleet {self.fleet} have the ports {sorted(ports)!r}: "
                f"name them {VNC!r} and {REWARDER!r}",
                permanent=True,
            )
        return self._address(status.address, ports[VNC], ports[REWARDER])


class _Port(msgspec.Struct):
    port: int
    name: str = ""


class _Status(msgspec.Struct):
    state: str
    gameServerName: str = ""
    address: str = ""
    ports: list[_Port] = []


class _Allocation(msgspec.Struct):
    status: _Status


class _GameServer(msgspec.Struct):
    status: _Status
