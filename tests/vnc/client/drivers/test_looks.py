"""`Session.next_look` on every driver: which updates are requested, and when."""

from __future__ import annotations

import asyncio
import math
import time

import numpy as np
import pytest

from tests.support.vnc.rfb import Peer, raw
from tests.support.vnc.sessions import taken

LIMIT = 1 << 20  # bytes of a recorder's queue
NEVER = 3600.0  # seconds to a look that no test waits for


class Script:
    """A server that sends one frame when a session begins; then the test tells it what to do."""

    def __init__(self) -> None:
        self.peer: asyncio.Future[Peer] = asyncio.get_running_loop().create_future()

    async def __call__(self, peer: Peer) -> None:
        assert not (await peer.request()).incremental
        peer.update(raw(1))
        assert (await peer.request()).incremental
        self.peer.set_result(peer)
        await asyncio.get_running_loop().create_future()


@pytest.fixture
async def script():
    return Script()


async def test_before_a_look_updates_are_not_followed_by_requests(opened, script):
    async with opened.to(script) as (session, changes):
        peer = await script.peer
        session.listen(False)
        session.next_look(time.monotonic() + NEVER)
        await asyncio.sleep(0)
        peer.update(raw(2))
        await changes.until(lambda: session.frames == 2)
        session.refresh()
        assert not (await peer.request()).incremental, (
            "a request of the next change came before the refresh's"
        )
        assert (taken(session) == 2).all()


async def test_one_request_precedes_a_look_and_a_late_look_ends_the_wait(opened, script):
    async with opened.to(script) as (session, changes):
        peer = await script.peer
        session.listen(False)
        look = time.monotonic() + 1.0
        session.next_look(look)
        await asyncio.sleep(0)
        peer.update(raw(2))
        for value in range(3, 6):  # the first request is that before the look; the others follow the updates
            assert (await peer.request()).incremental
            assert time.monotonic() > look - 0.5
            peer.update(raw(value))
        await changes.until(lambda: session.frames == 5)


async def test_a_still_screen_is_requested_once(opened, script):
    async with opened.to(script) as (session, _):
        peer = await script.peer
        session.listen(False)
        for _ in range(3):
            session.next_look(time.monotonic() + 0.1)
            await asyncio.sleep(0.1)
        session.refresh()
        assert not (await peer.request()).incremental, "the change was requested already"


async def test_a_thread_that_waits_for_frames_gets_every_one(opened, script):
    async with opened.to(script) as (session, changes):
        peer = await script.peer
        session.listen(False)
        session.next_look(time.monotonic() + NEVER)
        await asyncio.sleep(0)
        peer.update(raw(2))
        await changes.until(lambda: session.frames == 2)
        session.listen(True)
        session.next_look(time.monotonic() + NEVER)
        for value in range(3, 6):
            assert (await peer.request()).incremental
            peer.update(raw(value))
        await changes.until(lambda: session.frames == 5)


async def test_a_recorder_gets_every_frame(opened, script):
    async with opened.to(script) as (session, changes):
        peer = await script.peer
        session.listen(False)
        session.next_look(time.monotonic() + NEVER)
        await asyncio.sleep(0)
        peer.update(raw(2))
        await changes.until(lambda: session.frames == 2)
        tap = session.tap(LIMIT)
        for value in range(3, 6):
            session.next_look(time.monotonic() + NEVER)
            assert (await peer.request()).incremental
            peer.update(raw(value))
            await changes.until(lambda value=value: session.frames == value)
    assert [frame.number for frame in iter(tap.take, None)] == [2, 3, 4, 5]


async def test_a_refresh_before_a_look_is_completed(opened, server):
    async with opened.on(server.port, "pass wor") as (session, changes):
        await changes.until(lambda: session.frames > 0)
        session.listen(False)
        for value in range(1, 10):
            session.next_look(time.monotonic() + NEVER)
            server.present(np.full((30, 40, 3), value, np.uint8))
            wanted = session.refresh()
            await changes.until(lambda wanted=wanted: session.generation >= wanted)
            assert (taken(session) == value).all()


@pytest.mark.parametrize("look", [math.inf, math.nan])
async def test_a_look_that_never_comes_is_refused(opened, server, look):
    async with opened.on(server.port, "pass wor") as (session, _):
        session.listen(False)
        with pytest.raises(ValueError, match="never"):
            session.next_look(look)
