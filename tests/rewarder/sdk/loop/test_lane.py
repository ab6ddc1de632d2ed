"""Waiting for steps on the thread of the event loop."""

from __future__ import annotations

import asyncio

from rewarder.sdk.loop.lane import _poll_of


async def test_whatever_arrives_for_the_event_loop_ends_a_brief_wait():
    loop = asyncio.get_running_loop()
    arrivals = _poll_of(loop)
    assert arrivals is not None and not arrivals.poll(0)
    called = asyncio.Event()
    loop.call_soon_threadsafe(called.set)
    assert arrivals.poll(0)
    await called.wait()


def test_a_loop_without_a_descriptor_is_not_waited_for():
    assert _poll_of(object()) is None
