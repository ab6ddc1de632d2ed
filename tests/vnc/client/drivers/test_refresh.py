"""`Session.refresh` on every driver: no pixel is older than the call."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest

from tests.support.vnc.rfb import WIDTH, Peer, raw
from tests.support.vnc.sessions import taken
from vnc import fences
from vnc.session import Timeouts

BELL = b"\2"


async def test_refresh_comes_true_on_our_server(opened, server):
    async with opened.on(server.port, "pass wor") as (session, changes):
        for value in range(1, 30):
            server.present(np.full((30, 40, 3), value, np.uint8))
            wanted = session.refresh()
            await changes.until(lambda wanted=wanted: session.generation >= wanted)
            assert (taken(session) == value).all()


async def test_with_fences_no_update_from_before_satisfies_a_refresh(opened):
    """A late server sends more updates than there are outstanding requests."""
    asked, drawn, looked = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def talk(peer: Peer) -> None:
        await peer.request()
        peer.fence(fences.REQUEST, b"")
        peer.update(raw(1))
        await peer.request()
        drawn.set()
        await asked.wait()
        for _ in range(5):
            peer.update(raw(2))
        wanted = await peer.fence_request()
        await looked.wait()
        peer.fence(fences.BLOCK_BEFORE, wanted)
        while (await peer.request()).incremental:
            pass
        peer.update(raw(3))
        await peer.idle()

    async with opened.to(talk) as (session, changes):
        await drawn.wait()
        wanted = session.refresh()
        asked.set()
        await changes.until(lambda: session.frames == 6)
        assert session.generation < wanted, "satisfied by updates from before"
        looked.set()
        await changes.until(lambda: session.generation >= wanted)
        assert (taken(session) == 3).all()


async def test_an_update_that_was_under_way_does_not_satisfy_a_refresh(opened):
    """The server draws when it reads a request, and answers one request with one update."""
    asked, drawn, looked = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def talk(peer: Peer) -> None:
        await peer.request()
        peer.update(raw(1))
        assert (await peer.request()).incremental
        drawn.set()
        await asked.wait()
        peer.update(raw(2))  # drawn before the refresh, whole, and sent after it
        assert not (await peer.request()).incremental
        await looked.wait()
        peer.update(raw(3))
        await peer.idle()

    async with opened.to(talk) as (session, changes):
        await changes.until(lambda: session.frames == 1)
        await drawn.wait()
        wanted = session.refresh()
        asked.set()
        await changes.until(lambda: session.frames == 2)
        assert session.generation < wanted, "satisfied by the update under way"
        looked.set()
        await changes.until(lambda: session.generation >= wanted)
        assert (taken(session) == 3).all()


async def test_a_refresh_with_a_probe_under_way_waits_for_both(opened):
    asked, probed, looked = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def talk(peer: Peer) -> None:
        await peer.request()
        peer.update(raw(1))
        await peer.request()
        assert (await peer.request()).width == 1
        probed.set()
        await asked.wait()
        peer.update(raw(2))
        peer.update(raw(2))
        while (await peer.request()).incremental:
            pass
        await looked.wait()
        peer.update(raw(3))
        await peer.idle()

    timeouts = Timeouts(probe_interval=0.1, probe_deadline=10.0)
    async with opened.to(talk, timeouts) as (session, changes):
        await probed.wait()
        wanted = session.refresh()
        asked.set()
        await changes.until(lambda: session.frames == 3)
        assert session.generation < wanted
        looked.set()
        await changes.until(lambda: session.generation >= wanted)
        assert (taken(session) == 3).all()


async def test_a_refresh_is_not_over_before_every_pixel_came(opened):
    """A server may answer in parts."""

    async def talk(peer: Peer) -> None:
        await peer.request()
        peer.update(raw(1))
        while (await peer.request()).incremental:
            pass
        peer.update(raw(2))
        for rects in ([raw(3, 0, 0, WIDTH, 3)], [], [raw(3, 0, 3, WIDTH, 2)], [raw(3, 0, 5, WIDTH, 1)]):
            await peer.request()
            peer.update(*rects)
        await peer.idle()

    async with opened.to(talk) as (session, changes):
        await changes.until(lambda: session.frames == 1)
        wanted = session.refresh()
        await changes.until(lambda: session.generation >= wanted)
        assert (taken(session) == 3).all()


@pytest.mark.parametrize(
    ("combine", "sessions", "refreshes"),
    [(False, 30, 2), (True, 1, 60)],
    ids=["answers each request", "answers them together"],
)
async def test_refreshes_against_a_server_that_draws_when_it_answers(opened, combine, sessions, refreshes):
    """The picture is a number that grows with every update; no refresh may return an older one.

    Where each request is answered, every refresh leaves one more of them open: two can be relied on.
    """
    value = 0

    async def talk(peer: Peer) -> None:
        nonlocal value
        while True:
            await peer.request()
            while combine and peer.has_more:
                await peer.request()
            value += 1
            peer.update(raw(value % 256))
            await peer.writer.drain()

    for _ in range(sessions):
        async with opened.to(talk) as (session, changes):
            for _ in range(refreshes):
                before = value
                wanted = session.refresh()
                await changes.until(lambda wanted=wanted: session.generation >= wanted)
                age = (int(taken(session)[0, 0, 0]) - before) % 256
                assert 0 < age < 128, f"a picture from before the refresh: {age}"


async def test_several_refreshes_at_once_are_one_in_the_end(opened):
    async def talk(peer: Peer) -> None:
        while True:
            await peer.request()
            peer.update(raw(5))

    async with opened.to(talk) as (session, changes):
        generations = [session.refresh() for _ in range(20)]
        assert generations == sorted(set(generations))
        await changes.until(lambda: session.generation >= generations[-1])


async def test_an_answer_to_a_probe_is_no_part_of_a_frame(opened):
    """The screen changes before the server reads the probe: one pixel of the next frame arrives first."""
    asked, looked = asyncio.Event(), asyncio.Event()

    async def talk(peer: Peer) -> None:
        await peer.request()
        peer.update(raw(1))
        while (await peer.request()).width != 1:
            pass
        peer.update(raw(2, 0, 0, 1, 1))
        while (await peer.request()).incremental:
            pass
        asked.set()
        await looked.wait()
        peer.update(raw(2))
        await peer.idle()

    timeouts = Timeouts(probe_interval=0.1, probe_deadline=10.0)
    async with opened.to(talk, timeouts) as (session, changes):
        await changes.until(asked.is_set)
        assert session.frames == 1
        assert (taken(session) == 1).all(), "a part of the next frame is shown"
        looked.set()
        await changes.until(lambda: session.frames == 2)
        assert (taken(session) == 2).all()


async def test_the_answers_to_two_probes_are_no_parts_of_a_frame(opened):
    """A message in between makes the client request twice; the screen changes between the answers."""
    asked, looked = asyncio.Event(), asyncio.Event()

    async def talk(peer: Peer) -> None:
        await peer.request()
        peer.update(raw(1))
        for _ in range(2):
            while (await peer.request()).width != 1:
                pass
            peer.write(BELL)
        peer.update(raw(1, 0, 0, 1, 1))
        peer.update(raw(2, 0, 0, 1, 1))
        while (await peer.request()).incremental:
            pass
        asked.set()
        await looked.wait()
        peer.update(raw(2))
        await peer.idle()

    timeouts = Timeouts(probe_interval=0.1, probe_deadline=10.0)
    async with opened.to(talk, timeouts) as (session, changes):
        await changes.until(asked.is_set)
        assert (taken(session) == 1).all(), "a part of the next frame is shown"
        looked.set()
        await changes.until(lambda: (taken(session) == 2).all())
