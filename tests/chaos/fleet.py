"""The remotes of a run, each behind its own proxies."""

from __future__ import annotations

import asyncio
import random
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rewarder.serving import Serving
from tests.chaos.ledger import ENV_ID, HEIGHT, WIDTH, Life
from tests.support.network.proxy import Proxy
from universe_client.core.event_loop.loop import LoopThread
from universe_client.providers.embedded import EmbeddedProvider
from universe_client.providers.process import ProcessProvider
from universe_client.providers.provider import RemoteAddress

ROOT = Path(__file__).parents[2]
_LATENCY = 0.1  # the largest latency of a connection without a fault, in seconds


@dataclass
class Member:
    """One remote: its provider, and the proxies before its two ports."""

    provider: EmbeddedProvider
    vnc: Proxy
    rewarder: Proxy
    life: Life | None = None

    @property
    def proxies(self) -> tuple[Proxy, Proxy]:
        return self.vnc, self.rewarder

    @property
    def on_display(self) -> bool:
        return isinstance(self.provider, ProcessProvider)

    def usual(self, latency: float) -> None:
        """Restore the normal latency, without a fault."""
        for proxy in self.proxies:
            proxy.latency, proxy.split = latency, 0


class Fleet:
    """A provider of `embedded` remotes, and of `displays` remotes on Xvnc."""

    def __init__(self, embedded: int, displays: int, ledger: Path, seed: int) -> None:
        self._loop = LoopThread("proxies")
        self._ledger = ledger
        self.n = embedded + displays
        latencies = random.Random(seed)
        self.latencies = [latencies.uniform(0, _LATENCY) for _ in range(self.n)]
        self.members = [self._member(index < embedded, seed + index) for index in range(self.n)]
        for member, latency in zip(self.members, self.latencies, strict=True):
            member.usual(latency)

    def _member(self, embedded: bool, seed: int) -> Member:
        provider = _embedded() if embedded else _on_display(self._ledger)
        return Member(provider, Proxy(self._loop, 0, seed), Proxy(self._loop, 0, -seed))

    async def acquire(self, index: int) -> RemoteAddress:
        """Start the remote if it does not run, and return the addresses of its proxies."""
        member = self.members[index]
        address = await member.provider.acquire(0)
        assert address.rewarder is not None
        member.life = Life.of(self._ledger, member.provider._children[0].process.pid)
        member.vnc.target, member.rewarder.target = address.vnc.port, address.rewarder.port
        return replace(
            address,
            vnc=replace(address.vnc, port=member.vnc.port),
            rewarder=replace(address.rewarder, port=member.rewarder.port),
        )

    async def discard(self, index: int) -> None:
        await self.members[index].provider.discard(0)

    async def close(self) -> None:
        await asyncio.gather(*(member.provider.close() for member in self.members))

    def stop(self) -> None:
        """End the proxies."""
        for member in self.members:
            for proxy in member.proxies:
                proxy.close()
        self._loop.stop(asyncio.sleep(0))


def _embedded() -> EmbeddedProvider:
    return EmbeddedProvider(1, ENV_ID, serving=Serving(runtime="tests.chaos.remote:Numbers"))


def _on_display(ledger: Path) -> ProcessProvider:
    return ProcessProvider(
        1, "process.numbers", program=_command(ledger), screen_size=(4 * WIDTH, 4 * HEIGHT)
    )


def _command(ledger: Path) -> Sequence[str]:
    """Return the command of the program. It sets PYTHONPATH, because the program has a clean environment."""
    return ["env", f"PYTHONPATH={ROOT}", sys.executable, "-m", "tests.chaos.program", str(ledger)]
