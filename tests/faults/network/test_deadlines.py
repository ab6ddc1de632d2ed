"""Silent and slow peers: every deadline with its default, at the same time, on one environment.

A healthy remote of the same environment must not be affected.
"""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from tests.faults.network.test_connecting import unreachable
from tests.support.drivers import DRIVERS
from tests.support.network.proxy import Proxy
from tests.support.remotes.agent import one_step
from tests.support.remotes.remote import ScriptedRemote
from tests.support.system.processes import listener
from tests.support.timing import StepTimes, Stopwatch
from tests.support.vnc.rfb import Peer, header, listening, update
from tests.support.vnc.xvnc import xvnc_server
from universe_client import Config, VectorEnv
from universe_client.core.event_loop.loop import LoopThread
from universe_client.core.link import State
from universe_client.providers.address import AddressProvider
from universe_client.providers.provider import RemoteAddress
from vnc.session import VNCAddress

SLOP = 1.0  # seconds that a busy machine may add
ROWS = ("healthy", "F1", "F4", "F6", "F8", "F9", "F10")
_RUN_FIRST = ("healthy", "F1", "F4", "F6")


@dataclass
class Found:
    """The time from each fault to its error, the errors, and figures of the healthy remote and of the steps.

    `elapsed` is all the time, and `seconds` leaves out the time in which this process waited for a processor.
    """

    elapsed: dict[str, float] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)
    times: StepTimes = field(default_factory=StepTimes)
    painted: int = 0
    seen: int = 0


async def drips_update(peer: Peer) -> None:
    await peer.open()
    await peer.request()
    peer.write(update(header(0, 0, 8, 6)))
    await peer.drip(bytes(190), 1.0)


@dataclass
class Bench:
    """The remotes, one for each row; `break_them` starts the faults of those that run first."""

    loop: LoopThread
    addresses: list[RemoteAddress]
    healthy: ScriptedRemote
    began: dict[str, Stopwatch]
    faults: dict[str, Callable[[], object]]

    def break_them(self) -> None:
        for row, fault in self.faults.items():
            self.began[row] = Stopwatch()
            fault()


@contextmanager
def benched(directory: Path) -> Iterator[Bench]:
    loop, servers = LoopThread("far side"), AsyncExitStack()
    healthy, f4, f6 = (ScriptedRemote(loop) for _ in range(3))
    before_f4, before_f6 = Proxy(loop, f4.address.rewarder.port), Proxy(loop, f6.address.vnc.port)
    began: dict[str, Stopwatch] = {}

    def evil(row: str, talk: Callable[[Peer], Any]) -> RemoteAddress:
        async def timed(peer: Peer) -> None:
            began.setdefault(row, Stopwatch())
            await talk(peer)

        return local(loop.run(servers.enter_async_context(listening(timed)), 60))

    try:
        xvnc, _ = loop.run(servers.enter_async_context(xvnc_server(directory)), 60)
        with unreachable(2) as (_, black_hole):
            addresses = [
                healthy.address,
                local(xvnc),
                replace(f4.address, rewarder=replace(f4.address.rewarder, port=before_f4.port)),
                replace(f6.address, vnc=replace(f6.address.vnc, port=before_f6.port)),
                black_hole,
                evil("F9", lambda peer: peer.drip(b"RFB 003.008\n", 2.0)),
                evil("F10", drips_update),
            ]
            faults = {
                "F1": lambda: os.kill(listener(xvnc), signal.SIGSTOP),
                "F4": lambda: (before_f4.stall(), before_f4.stop_reading()),
                "F6": lambda: (before_f6.stall(), before_f6.stop_reading()),
            }
            yield Bench(loop, addresses, healthy, began, faults)
    finally:
        for thing in (before_f4, before_f6):
            thing.close()
        loop.run(servers.aclose(), 60)
        for remote in (healthy, f4, f6):
            remote.stop()
        loop.stop(asyncio.sleep(0))


def local(port: int) -> RemoteAddress:
    return RemoteAddress(VNCAddress("127.0.0.1", port))


@pytest.fixture(scope="module", params=DRIVERS)
def driver(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def found(driver: str, tmp_path_factory: pytest.TempPathFactory) -> Found:
    """Step until every fault has caused its error."""
    with benched(tmp_path_factory.mktemp("xvnc")) as bench:
        bench.began["F8"] = Stopwatch()
        provider = AddressProvider(bench.addresses)
        with VectorEnv(None, provider, config=Config(driver=driver, backoff=(60.0, 60.0))) as env:
            env.reset()
            found = Found()
            play(env, bench, found, lambda: all(runs(env, row) for row in _RUN_FIRST), 60)
            bench.break_them()
            found.times.seconds.clear()
            play(env, bench, found, lambda: len(found.errors) == len(ROWS) - 1, 120)
            return found


def runs(env: VectorEnv, row: str) -> bool:
    return env.remotes[ROWS.index(row)].link.state is State.RUNNING


def play(env: VectorEnv, bench: Bench, found: Found, over: Callable[[], bool], timeout: float) -> None:
    deadline = time.monotonic() + timeout
    while not over():
        assert time.monotonic() < deadline, f"only {sorted(found.errors)} after {timeout:g} s"
        value = 1 + found.painted % 255
        bench.healthy.paint(value)
        found.painted += 1
        found.seen += is_seen(env, found, bench.began, value)


def is_seen(env: VectorEnv, found: Found, began: dict[str, Stopwatch], value: int) -> bool:
    """Step until the healthy remote shows `value`; return whether it did within 0.25 s, without starvation."""
    watch = Stopwatch()
    while not (seen := sees(env, found, began, value)) and watch.seconds < 0.25 and watch.elapsed < 5:
        pass
    return seen


def sees(env: VectorEnv, found: Found, began: dict[str, Stopwatch], value: int) -> bool:
    """Make a step; return whether the healthy remote shows `value`."""
    env.wait(0.05)
    step = found.times.time(lambda: one_step(env))
    for row, info in zip(ROWS, step.info_n, strict=True):
        if info["error"] is not None:
            found.seconds[row], found.elapsed[row] = began[row].seconds, began[row].elapsed
            found.errors[row] = info["error"]
    return step.observation is not None and step.pixel == value


@pytest.mark.fault("F1", "VNC server SIGSTOP")
@pytest.mark.timeout(180)
def test_f1_a_stopped_vnc_server_is_lost_at_the_probe_deadline(found, measure):
    assert "no answer to a probe within 10 s" in found.errors["F1"]
    measure("time to the error", found.seconds["F1"], at_most=15 + SLOP, unit="s")


@pytest.mark.fault("F4", "rewarder SIGSTOP / SIGKILL")
@pytest.mark.timeout(180)
def test_f4_a_silent_rewarder_is_lost_at_the_ping_timeout(found, measure):
    assert "no pong within 10 s" in found.errors["F4"]
    measure("time to the error after SIGSTOP", found.seconds["F4"], at_most=20 + SLOP, unit="s")


@pytest.mark.fault("F6", "half-open TCP")
@pytest.mark.timeout(180)
def test_f6_a_half_open_connection_is_lost_at_the_probe_deadline(found, measure):
    assert "no answer to a probe within 10 s" in found.errors["F6"]
    measure("time to the error", found.seconds["F6"], at_most=15 + SLOP, unit="s")


@pytest.mark.fault("F8", "connect refused / host black hole")
@pytest.mark.timeout(180)
def test_f8_a_black_hole_is_given_up_at_the_connect_deadline(found, measure):
    assert "no connection within" in found.errors["F8"]
    measure("time to the error, black hole", found.seconds["F8"], at_most=11 + SLOP, unit="s")


@pytest.mark.fault("F9", "slow-loris handshake")
@pytest.mark.timeout(180)
def test_f9_a_dripping_handshake_is_given_up_at_its_deadline(found, measure):
    assert "no end of the handshake within 15 s" in found.errors["F9"]
    measure("time to the error", found.elapsed["F9"], at_least=14, unit="s")
    measure("time to the error, on a processor", found.seconds["F9"], at_most=15 + SLOP, unit="s")


@pytest.mark.fault("F10", "slow-loris update")
@pytest.mark.timeout(180)
def test_f10_a_dripping_update_is_given_up_at_its_deadline(found, measure):
    assert "30 s" in found.errors["F10"]
    measure("time to the error", found.seconds["F10"], at_most=31 + SLOP, unit="s")
    measure("frames of the healthy remote", 100 * found.seen / found.painted, at_least=95, unit="%")
    measure("step, 99th percentile", found.times.p99, at_most=5, unit="ms")
