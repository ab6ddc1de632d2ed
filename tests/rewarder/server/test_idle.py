"""The timer that runs while no client is connected."""

from __future__ import annotations

import asyncio

import pytest

from rewarder.server.idle import IdleWatch


async def test_it_is_over_when_nobody_came_in_time():
    watch = IdleWatch(0.01)
    watch.update(busy=False)
    async with asyncio.timeout(60):
        await watch.over()


@pytest.mark.parametrize("stop", [lambda watch: watch.update(busy=True), IdleWatch.stop])
async def test_somebody_who_comes_or_the_end_stops_it(stop):
    watch, later = IdleWatch(0.01), IdleWatch(0.05)
    watch.update(busy=False)
    stop(watch)
    later.update(busy=False)
    waiting = asyncio.create_task(watch.over())
    await later.over()
    assert not waiting.done()
    waiting.cancel()


async def test_without_a_bound_nobody_is_missed():
    watch, later = IdleWatch(None), IdleWatch(0.01)
    watch.update(busy=False)
    later.update(busy=False)
    waiting = asyncio.create_task(watch.over())
    await later.over()
    assert not waiting.done()
    waiting.cancel()
