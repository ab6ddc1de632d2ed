"""A server sends updates without waiting for requests (F27)."""

from __future__ import annotations

import time

import pytest

from tests.chaos.gauges import Gauges
from tests.support.remotes.agent import one_step, until_running
from tests.support.timing import StepTimes
from tests.support.vnc.rfb import Peer, raw, update

SIDE, VALUES = 128, 16
UPDATES = [update(raw(value, 0, 0, SIDE, SIDE)) for value in range(1, VALUES + 1)]
SECONDS = 3.0


@pytest.mark.fault("F27", "update flood")
def test_f27_a_flood_of_updates_costs_no_memory_and_no_step(evil, open_env, measure):
    sent = 0

    async def flood(peer: Peer) -> None:
        nonlocal sent
        await peer.open(SIDE, SIDE)
        while True:
            peer.write(UPDATES[sent % VALUES])
            sent += 1
            await peer.writer.drain()

    env = open_env(evil(flood)[0])
    env.reset()
    until_running(env)
    times, frames, memory = StepTimes(), 0, Gauges.read().memory
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        env.wait(1 / 60)
        step = times.time(lambda: one_step(env))
        assert step.info["error"] is None
        assert 1 <= step.pixel <= VALUES
        frames += step.info["stats.vnc.updates.n"]
    measure("updates", frames, at_least=SECONDS * 60)
    measure("memory", (Gauges.read().memory - memory) / 2**20, at_most=16, unit="MiB")
    measure("step, 99th percentile, with the server in this process", times.p99, at_most=50, unit="ms")
