"""The portable driver; tests of both drivers are in `drivers/`."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest

from tests.support.vnc.rfb import WIDTH, Peer, header, raw, update
from tests.support.vnc.sessions import taken
from vnc.errors import ProtocolError


@pytest.fixture
def driver() -> str:
    return "portable"


@pytest.mark.parametrize("encoding", [16, 5, 7, -239, -223])
async def test_it_asks_for_raw_and_zlib_and_takes_nothing_else(opened, encoding):
    error = await opened.error_after(update(header(0, 0, 8, 6, encoding)))
    assert type(error) is ProtocolError
    assert f"encoding {encoding}), offset 0: encoding was not requested" in str(error)


async def test_rects_that_are_decoded_are_not_shown_before_their_update_ends(opened):
    go_on = asyncio.Event()

    async def talk(peer: Peer) -> None:
        await peer.request()
        peer.update(raw(1))
        await peer.request()
        data = update(raw(2, 0, 0, WIDTH, 3), raw(2, 0, 3, WIDTH, 3))
        peer.write(data[: len(data) - 4])
        await go_on.wait()
        peer.write(data[len(data) - 4 :])
        await peer.idle()

    async with opened.to(talk) as (session, changes):
        await changes.until(lambda: session.stats.rectangles >= 2)
        assert (taken(session) == 1).all()
        go_on.set()
        await changes.until(lambda: session.frames == 2)
        assert (taken(session) == 2).all()


async def test_take_fills_an_array_of_any_layout(opened):
    async def talk(peer: Peer) -> None:
        await peer.request()
        peer.update(raw(5))
        await peer.idle()

    async with opened.to(talk) as (session, changes):
        await changes.until(lambda: session.frames == 1)
        height, width, _ = session.shape
        out = np.zeros((width, height, 3), np.uint8).transpose(1, 0, 2)
        assert session.take(out) == 1
        assert (out == 5).all()
