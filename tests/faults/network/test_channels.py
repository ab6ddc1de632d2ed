"""One channel of a remote is lost while the other stays connected (F37)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from tests.support.network.proxy import Proxy
from tests.support.remotes.agent import one_step
from tests.support.remotes.remote import ScriptedRemote
from universe_client.core.event_loop.loop import LoopThread

REMOTES, CUTS = 10, 250  # for each driver and channel: 1,000 in total
RATE, LATENCY = 100, 0.1


@dataclass
class Payer:
    """Sends the rewards 1, 2, 3, ... in each episode of a remote, so that a sum shows which of them it contains."""

    remote: ScriptedRemote
    episode: int = 0
    paid: int = 0

    def pay(self) -> None:
        if self.remote.episode != self.episode:
            self.episode, self.paid = self.remote.episode, 0
        self.paid += 1
        self.remote.reward(float(self.paid))


@dataclass
class Ledger:
    """The results of one remote, whose connection is cut whenever an episode has brought a reward."""

    proxy: Proxy
    sum: float = 0.0
    is_cut: bool = False
    ends: list[str] = field(default_factory=list)
    wrong: list[float] = field(default_factory=list)

    def add(self, observation: Any, reward: float, done: bool, info: dict[str, Any]) -> None:
        self.sum += reward
        if done:
            assert info["error"] is not None, "the end came without its error"
            self.ends.append(info["env_status.complete.episode_id"])
            if not is_prefix(self.sum):
                self.wrong.append(self.sum)
            self.sum, self.is_cut = 0.0, False
        elif observation is not None and self.sum and not self.is_cut:
            self.is_cut = True
            self.proxy.reset()


def is_prefix(total: float) -> bool:
    """Whether `total` is 1 + 2 + ... + k for some k: no reward is missing or counted twice."""
    count = int((2 * total) ** 0.5)
    return total == count * (count + 1) / 2


@contextmanager
def paying(loop: LoopThread, remotes: list[ScriptedRemote]) -> Iterator[None]:
    """Within the block, each remote sends `RATE` rewards a second."""
    payers = [Payer(remote) for remote in remotes]

    async def pay() -> None:
        while True:
            for payer in payers:
                payer.pay()
            await asyncio.sleep(1 / RATE)

    tasks: list[asyncio.Task[None]] = []
    loop.call(lambda: tasks.append(asyncio.ensure_future(pay())))
    yield
    loop.call(lambda: tasks[0].cancel())


@pytest.mark.fault("F37", "one channel lost, the other goes on")
@pytest.mark.parametrize("channel", ["vnc", "rewarder"])
def test_f37_an_episode_ends_once_when_only_one_channel_is_lost(
    scripted, playing, proxied, far_side, measure, channel
):
    remotes = [scripted() for _ in range(REMOTES)]
    addresses, ledgers = [], []
    for remote in remotes:
        rewarder_proxy, via_rewarder = proxied(remote, "rewarder", latency=LATENCY)
        vnc_proxy, via_vnc = proxied(remote)
        addresses.append(replace(via_rewarder, vnc=via_vnc.vnc))
        ledgers.append(Ledger(vnc_proxy if channel == "vnc" else rewarder_proxy))
    env = playing(*addresses, backoff=(0.01, 0.02))
    deadline = time.monotonic() + 110
    with paying(far_side, remotes):
        while sum(len(ledger.ends) for ledger in ledgers) < CUTS:
            assert time.monotonic() < deadline, [len(ledger.ends) for ledger in ledgers]
            env.wait(0.05)
            step = one_step(env)
            for ledger, *of_slot in zip(
                ledgers, step.observation_n, step.reward_n, step.done_n, step.info_n, strict=True
            ):
                ledger.add(*of_slot)
    measure("cuts", sum(len(ledger.ends) for ledger in ledgers), at_least=CUTS)
    measure("double ends", sum(len(ledger.ends) - len(set(ledger.ends)) for ledger in ledgers), equals=0)
    measure("wrong sums", sum(len(ledger.wrong) for ledger in ledgers), equals=0)
