"""A cluster that is a stand-in: its API over HTTP, with pods that are scripted remotes."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from universe_client.core.event_loop.loop import LoopThread
from universe_client.providers.kubernetes import Access, AgonesProvider, SandboxProvider
from universe_client.providers.kubernetes.fake import FakeCluster, Pod

PASSWORD = "a-secret-of-the-pool"


class Served:
    """A stand-in and its pods.

    Attributes:
        api: the stand-in. It runs on `far_side`: use `run` to call its coroutines.
        pods: of the warm pool, or of the fleet.
        access: how a provider gets at it.
    """

    def __init__(self, far_side: LoopThread, api: FakeCluster, pods: list[Pod], remotes: list[Any]) -> None:
        self.api, self.pods, self.remotes = api, pods, remotes
        self.run = far_side.run
        self.access = Access(FakeCluster.namespace)

    def remote_of(self, pod: Pod) -> Any:
        return self.remotes[self.pods.index(pod)]

    @property
    def ports(self) -> dict[str, int]:
        return {"vnc_port": self.pods[0].vnc_port, "rewarder_port": self.pods[0].rewarder_port}

    def held(self) -> list[Pod]:
        """The pods of claims, and of game servers that are allocated."""
        return [pod for pod in self.pods if pod.holder is not None and _is_taken(pod.holder)]


def _is_taken(holder: dict[str, Any]) -> bool:
    return holder["kind"] == "SandboxClaim" or holder["status"]["state"] == "Allocated"


@pytest.fixture
def cluster(far_side: LoopThread, scripted: Any, tmp_path: Path) -> Iterator[Callable[..., Served]]:
    """Start a stand-in with pods for `kind`: "sandbox" or "agones"."""
    opened: list[FakeCluster] = []

    def start(kind: str, count: int = 3) -> Served:
        ports = _free_ports(count)
        remotes = [
            scripted(host=f"127.0.0.{10 + number}", ports=ports, password=PASSWORD[:8])
            for number in range(count)
        ]
        pods = [Pod(f"127.0.0.{10 + number}", *ports) for number in range(count)]
        api = FakeCluster(pods) if kind == "sandbox" else FakeCluster((), pods)
        opened.append(api)
        served = Served(far_side, api, pods, remotes)
        served.run(api.start(), 60)
        file = tmp_path / "kubeconfig"
        api.write_kubeconfig(file)
        served.access = Access(api.namespace, file)
        return served

    yield start
    for api in opened:
        far_side.run(api.close(), 60)


def _free_ports(count: int) -> tuple[int, int]:
    """Return two ports that are free on the addresses of all pods, which serve on the same ports."""
    while True:
        with socket.create_server(("127.0.0.10", 0)) as one, socket.create_server(("127.0.0.10", 0)) as other:
            ports = one.getsockname()[1], other.getsockname()[1]
        try:
            for number in range(count):
                for port in ports:
                    socket.create_server((f"127.0.0.{10 + number}", port)).close()
        except OSError:
            continue
        return ports


def provider_for(kind: str, served: Served, n: int, **options: Any) -> Any:
    """Return a provider of `n` remotes."""
    options = {"access": served.access, "password": PASSWORD[:8]} | options
    if kind == "sandbox":
        return SandboxProvider(n, warm_pool=served.api.warm_pool, **served.ports | options)
    return AgonesProvider(n, fleet=served.api.fleet, **options)
