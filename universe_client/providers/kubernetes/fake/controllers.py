"""What the controllers of agent-sandbox (v1beta1) and Agones (1.57) do with claims, allocations and pods."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from universe_client.providers.kubernetes.agones import FLEET, GAME_SERVER, REWARDER, VNC
from universe_client.providers.kubernetes.fake.objects import Object
from universe_client.providers.kubernetes.fake.store import Store
from universe_client.providers.kubernetes.sandbox import SANDBOX_CLAIM

_CHECKS_PER_SECOND = 10  # of shutdown times


@dataclass(slots=True, eq=False)
class Pod:
    """A pod of a pool or fleet: a remote that already runs at this address.

    When it is released, a new pod takes its place at the same address, as the last of the pool.

    Attributes:
        host, vnc_port, rewarder_port: the address.
        holder: the claim, or the game server, that has it.
    """

    host: str
    vnc_port: int
    rewarder_port: int
    holder: Object | None = None


class SandboxController:
    """The pods of a warm pool."""

    def __init__(self, store: Store, warm_pool: str, pods: Sequence[Pod]) -> None:
        self._store, self._warm_pool, self._pods = store, warm_pool, list(pods)
        self._numbers = itertools.count(1)

    async def bind(self) -> None:
        """Give free pods to the claims that wait."""
        for claim in self._store.all(SANDBOX_CLAIM):
            if _reason(claim) in ("", "DependenciesNotReady"):
                status = self._status(claim)
                if status != claim.get("status"):
                    claim["status"] = status
                    await self._store.put(SANDBOX_CLAIM, claim)

    def _status(self, claim: Object) -> Object:
        if claim["spec"]["warmPoolRef"]["name"] != self._warm_pool:
            return _conditions("False", "WarmPoolNotFound", "SandboxWarmPool not found")
        free = next((pod for pod in self._pods if pod.holder is None), None)
        if free is None:
            return _conditions("False", "DependenciesNotReady", "Pod exists with phase: Pending")
        free.holder = claim
        sandbox = {"name": f"sandbox-{next(self._numbers)}", "podIPs": [free.host]}
        return _conditions("True", "DependenciesReady", "Pod is Ready") | {"sandbox": sandbox}

    async def release(self, claim: Object) -> None:
        """Delete the sandbox of a claim, which has been deleted; a new one takes its place in the pool."""
        _free(self._pods, claim)
        await self.bind()

    async def end(self, pod: Pod) -> None:
        """Let a pod and its node end for good: its claim has no sandbox any more."""
        self._pods.remove(pod)
        claim, pod.holder = pod.holder, None
        if claim is not None:
            claim["status"] = _conditions("False", "PodFailed", "Pod failed")
            await self._store.put(SANDBOX_CLAIM, claim)

    async def expire(self) -> None:
        """Delete claims at their shutdown times, for ever."""
        while True:
            await asyncio.sleep(1 / _CHECKS_PER_SECOND)
            for claim in self._store.all(SANDBOX_CLAIM):
                due = claim["spec"].get("lifecycle", {}).get("shutdownTime")
                if due is not None and datetime.fromisoformat(due) <= datetime.now(UTC):
                    await self._store.remove(SANDBOX_CLAIM, claim)
                    await self.release(claim)


def _free(pods: list[Pod], holder: Object) -> None:
    for pod in [each for each in pods if each.holder is holder]:
        pod.holder = None
        pods.append(pods.pop(pods.index(pod)))


def _reason(claim: Object) -> str:
    conditions = claim.get("status", {}).get("conditions", [])
    return str(conditions[0]["reason"]) if conditions else ""


def _conditions(ready: str, reason: str, message: str) -> Object:
    return {"conditions": [{"type": "Ready", "status": ready, "reason": reason, "message": message}]}


class AgonesController:
    """The game servers of a fleet."""

    def __init__(self, store: Store, fleet: str, pods: Sequence[Pod]) -> None:
        self._store, self._fleet, self._pods = store, fleet, list(pods)
        self._numbers = itertools.count(1)

    async def fill(self) -> None:
        """Make a game server for each free pod."""
        for pod in self._pods:
            if pod.holder is not None:
                continue
            metadata = {"name": f"{self._fleet}-{next(self._numbers)}", "labels": {FLEET: self._fleet}}
            ports = [{"name": VNC, "port": pod.vnc_port}, {"name": REWARDER, "port": pod.rewarder_port}]
            status = {"state": "Ready", "address": pod.host, "ports": ports, "nodeName": "node-1"}
            pod.holder = {**GAME_SERVER.head, "metadata": metadata, "spec": {}, "status": status}
            await self._store.put(GAME_SERVER, pod.holder)

    async def allocate(self, body: Object) -> Object:
        """Return an allocation, with what it got."""
        for selector in body["spec"]["selectors"]:
            for server in self._store.all(GAME_SERVER):
                metadata, status = server["metadata"], server["status"]
                wanted = selector.get("matchLabels", {}).items()
                if status["state"] == "Ready" and wanted <= metadata["labels"].items():
                    status["state"] = "Allocated"
                    for key, values in body["spec"].get("metadata", {}).items():
                        metadata[key] = metadata.get(key, {}) | values
                    await self._store.put(GAME_SERVER, server)
                    return body | {"status": status | {"gameServerName": metadata["name"], "source": "local"}}
        return body | {"status": {"state": "UnAllocated", "gameServerName": "", "source": ""}}

    async def release(self, server: Object) -> None:
        """Replace a game server that has been deleted."""
        _free(self._pods, server)
        await self.fill()

    async def end(self, pod: Pod) -> None:
        """Let a pod and its node end for good: Agones deletes its game server."""
        self._pods.remove(pod)
        server, pod.holder = pod.holder, None
        if server is not None:
            await self._store.remove(GAME_SERVER, server)
