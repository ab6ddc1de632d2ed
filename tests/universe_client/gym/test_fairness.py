"""No remote waits for ever: `recv` with `max_ready` serves rows in the order in which their actions were sent."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.remotes.gym import open_gym
from tests.support.remotes.remote import frame
from universe_client.gym.batch.pending import PendingSteps

__all__ = ["open_gym"]


@given(data=st.data(), n=st.integers(1, 40), most=st.integers(1, 10))
def test_a_row_that_is_ready_is_served_before_any_other_is_served_twice(
    data: st.DataObject, n: int, most: int
):
    pending = PendingSteps(n)
    pending.expect(range(n))
    ready: set[int] = set()  # a row stays ready until it is served
    waited = dict.fromkeys(range(n), 0)
    served_since: dict[int, list[int]] = {row: [] for row in range(n)}
    for _ in range(30):
        for row in data.draw(st.sets(st.integers(0, n - 1))) - ready:
            ready.add(row)
            waited[row], served_since[row] = 0, []
        served = pending.oldest(sorted(ready), most)
        assert len(served) == min(most, len(ready))
        for row in ready - set(served):
            waited[row] += 1
            served_since[row] += served
            assert len(served_since[row]) == len(set(served_since[row]))
            assert waited[row] < math.ceil(n / most)
        ready -= set(served)
        if served:
            pending.expect(served)


@pytest.fixture
def painted(scripted: Any, far_side: Any) -> Iterator[list[Any]]:
    """24 remotes: four show a new frame five times a second, the others as often as they can."""
    remotes = [scripted() for _ in range(24)]

    async def paint(some: list[Any], pause: float) -> None:
        value = 0
        while True:
            value = value % 250 + 1
            for remote in some:
                remote.vnc.present(frame(value))
            await asyncio.sleep(pause)

    async def both() -> None:
        await asyncio.gather(paint(remotes[4:], 0), paint(remotes[:4], 0.2))

    async def start() -> asyncio.Task[None]:
        return asyncio.create_task(both())

    async def stop() -> None:
        task.cancel()
        await asyncio.wait([task])

    task = far_side.run(start(), 60)
    yield remotes
    far_side.run(stop(), 60)


@pytest.mark.parametrize("driver", ["auto"])
def test_remotes_with_few_frames_are_not_starved_by_those_with_many(painted: list[Any], open_gym: Any):
    env, most, slow = open_gym(*painted), 4, range(4)
    env.reset()
    env.send(np.zeros(24, np.int64))
    waited, served = np.zeros(24, np.int64), np.zeros(24, np.int64)
    while served[slow].min() < 10:
        ready = [row for row in range(24) if env._rows.ready(row)]
        infos = env.recv(min_ready=1, max_ready=most, timeout=60.0)[4]
        ids = infos["env_id"]
        waited[ready] += 1
        waited[ids] = 0
        served[ids] += 1
        assert waited.max() <= math.ceil(24 / most)
        env.send(np.zeros(len(ids), np.int64), ids)
    assert served.sum() > 10 * 24
