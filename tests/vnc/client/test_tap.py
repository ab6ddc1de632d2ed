"""Taps: every frame of a session, in order, whoever takes frames beside it."""

import asyncio
import threading

import numpy as np
import pytest

from tests.support.drivers import DRIVERS
from tests.support.vnc.sessions import Opener
from vnc import drivers
from vnc.client.taps import FrameQueue
from vnc.server.server import VNCServer

LIMIT = 1 << 20


def grey(value):
    return np.full((16, 24, 3), value, np.uint8)


@pytest.fixture(params=DRIVERS)
def opener(request):
    return Opener(drivers.connect(request.param))


def shown(session):
    pixels = np.zeros((16, 24, 3), np.uint8)
    session.take(pixels)
    return pixels.min()


async def rest(tap):
    return [frame async for frame in _frames(tap)]


async def _frames(tap):
    while (frame := await asyncio.to_thread(tap.take)) is not None:
        yield frame


async def test_a_tap_has_every_frame_and_ends_with_the_session(opener):
    server = VNCServer(24, 16)
    await server.start("127.0.0.1", 0)
    try:
        async with opener.on(server.port) as (session, changes):
            server.present(grey(1))
            await changes.until(lambda: shown(session) == 1)
            tap, before = session.tap(LIMIT), session.frames
            for value in range(10, 30):
                server.present(grey(value))
                await changes.until(lambda: shown(session) == value)  # noqa: B023
            times = session.frame_time
        frames = await asyncio.wait_for(rest(tap), 60)
    finally:
        await server.close()
    newest = [frame for frame in frames if frame.pixels[0, 0, 0] >= 10]
    assert [int(frame.pixels.max()) for frame in newest] == list(range(10, 30))
    assert all((frame.pixels == frame.pixels[0, 0]).all() for frame in frames)
    assert [frame.number for frame in frames] == list(range(before, before + len(frames)))
    assert frames[-1].time == times and not tap.refused


def test_a_full_queue_refuses_and_counts():
    tap = FrameQueue(100)
    for number in range(1, 21):
        tap.add(grey(number), number, number, 0)
    assert tap.refused == 12
    first = tap.take()
    tap.add(grey(99), 99, 99.0, 3)
    tap.end()
    tap.add(grey(100), 100, 100.0, 3)
    frames = [first, *iter(tap.take, None)]
    assert [frame.number for frame in frames] == [*range(1, 9), 99]
    assert [frame.refused for frame in frames] == [0] * 8 + [12]


def test_the_end_wakes_who_waits():
    tap, taken = FrameQueue(100), []
    thread = threading.Thread(target=lambda: taken.append(tap.take()))
    thread.start()
    tap.end()
    thread.join(60)
    assert taken == [None]
