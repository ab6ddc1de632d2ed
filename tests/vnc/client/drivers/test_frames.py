"""Frames of a session on every driver: complete, and copied into the caller's array."""

from __future__ import annotations

import asyncio
import struct
import time
import zlib

import numpy as np
import pytest

from tests.support.vnc.rfb import HEIGHT, WIDTH, Peer, header, raw, update
from tests.support.vnc.sessions import taken
from vnc.errors import PeerLost
from vnc.pixels.reduction import Reduction
from vnc.server.server import VNCServer


async def test_shows_what_our_server_shows(opened, server):
    rng = np.random.default_rng(1)
    async with opened.on(server.port, "pass wor") as (session, changes):
        for _ in range(10):
            picture = rng.integers(0, 256, (30, 40, 3), dtype=np.uint8)
            server.present(picture)
            await changes.until(lambda picture=picture: (taken(session) == picture).all())
        picture[3:5, 7:11] = 1
        server.present(picture)
        await changes.until(lambda: (taken(session) == picture).all())
        assert session.shape == (30, 40, 3)
        assert session.name == "universe-client"
        assert session.stats.updates == session.frames >= 2


async def test_one_array_taken_into_again_and_again_has_every_change(opened, server):
    """A driver may copy only what changed since the last take."""
    rng = np.random.default_rng(2)
    picture = np.zeros((30, 40, 3), np.uint8)
    async with opened.on(server.port, "pass wor") as (session, changes):
        out = np.zeros(session.shape, np.uint8)

        def shows_it() -> bool:
            session.take(out)
            return bool((out == picture).all())

        for _ in range(30):
            x, y = rng.integers(0, 36), rng.integers(0, 26)
            picture[y : y + 4, x : x + 4] = rng.integers(0, 256, 3)
            server.present(picture)
            await changes.until(shows_it)


async def test_smaller_pictures_have_every_change(opened):
    """A driver may draw only the pixels that cover a change."""
    rng = np.random.default_rng(3)
    picture = rng.integers(0, 256, (100, 200, 3), dtype=np.uint8)
    whole = Reduction.whole(picture.shape)
    reductions = [
        whole.resize(21, 17).to_grey(),
        whole.crop(70, 9, 60, 80),
        whole.crop(3, 50, 190, 40).resize(19, 3),
    ]
    outs = [np.zeros(reduction.shape, np.uint8) for reduction in reductions]
    server = VNCServer(200, 100)
    await server.start()
    async with opened.on(server.port) as (session, changes):
        out = np.zeros(session.shape, np.uint8)

        def shows_it() -> bool:
            session.take(out)
            return bool((out == picture).all())

        for _ in range(20):
            x, y = rng.integers(0, 190), rng.integers(0, 90)
            picture[y : y + 10, x : x + 10] = rng.integers(0, 256, (10, 10, 3))
            server.present(picture)
            await changes.until(shows_it)
            if rng.random() < 0.4:
                continue  # the next pictures have the damage of several frames
            for reduction, reduced in zip(reductions, outs, strict=True):
                assert session.take(reduced, reduction) == session.frames
                expected = np.zeros_like(reduced)
                reduction.draw(picture, expected)
                assert np.array_equal(reduced, expected)
        with pytest.raises(ValueError, match="the screen is"):
            session.take(outs[0], Reduction.whole((100, 201, 3)).resize(21, 17).to_grey())
    await server.close()


async def test_an_array_may_contain_another_picture_than_before(opened, server):
    picture = np.random.default_rng(4).integers(0, 256, (30, 40, 3), dtype=np.uint8)
    grey = Reduction.whole(picture.shape).resize(40, 30).to_grey()
    left, right = (grey.crop(x, 0, 20, 30) for x in (0, 20))
    out = np.zeros(left.shape, np.uint8)
    async with opened.on(server.port, "pass wor") as (session, changes):
        server.present(picture)
        await changes.until(lambda: (taken(session) == picture).all())
        for reduction in (left, right, left):
            session.take(out, reduction)
            expected = np.zeros_like(out)
            reduction.draw(picture, expected)
            assert np.array_equal(out, expected)


async def test_a_frame_has_a_number_and_a_time(opened):
    async def talk(peer: Peer) -> None:
        await peer.request()
        peer.update(raw(1))
        await peer.idle()

    before = time.monotonic()
    async with opened.to(talk) as (session, changes):
        assert session.frame_time == 0.0 or session.frames == 1
        await changes.until(lambda: session.frames == 1)
        assert before <= session.frame_time <= time.monotonic()
        assert session.take(np.zeros(session.shape, np.uint8)) == 1


async def test_bell_cut_text_and_colour_map_are_passed_over(opened):
    """asyncvnc confuses Bell with ServerCutText, and does not support SetColourMapEntries."""

    async def talk(peer: Peer) -> None:
        await peer.request()
        peer.write(b"\x02")
        peer.write(struct.pack(">BxxxI", 3, 5) + b"hello")
        peer.write(b"\x02\x02")
        peer.write(struct.pack(">BxHH", 1, 0, 3) + bytes(18))
        peer.write(struct.pack(">BxxxI", 3, 0))
        peer.update(raw(42))
        await peer.request()
        await peer.idle()

    async with opened.to(talk) as (session, changes):
        await changes.until(lambda: session.frames == 1)
        assert (taken(session) == 42).all()
        assert session.error is None


async def test_an_update_of_no_rects_is_no_frame_and_the_next_is_asked_for(opened):
    async def talk(peer: Peer) -> None:
        for _ in range(3):
            await peer.request()
            peer.update()
        await peer.request()
        peer.update(raw(9))
        await peer.idle()

    async with opened.to(talk) as (session, changes):
        await changes.until(lambda: session.frames == 1)
        assert (taken(session) == 9).all()
        assert session.stats.updates == 1


async def test_rects_of_raw_and_zlib_on_one_stream(opened):
    deflate = zlib.compressobj()
    sent = 0

    def zlib_rect(value: int, x: int, width: int) -> bytes:
        data = deflate.compress(bytes([value, value, value, 0]) * (width * HEIGHT))
        data += deflate.flush(zlib.Z_SYNC_FLUSH)
        return header(x, 0, width, HEIGHT, 6) + struct.pack(">I", len(data)) + data

    async def talk(peer: Peer) -> None:
        nonlocal sent
        first = zlib_rect(7, 0, 4), zlib_rect(8, 4, 4), raw(5, 1, 1, 1, 1)
        second = zlib_rect(9, 0, 8)
        sent = sum(map(len, (*first, second)))
        await peer.request()
        peer.update(*first)
        await peer.request()
        peer.update(second)
        await peer.idle()

    async with opened.to(talk) as (session, changes):
        await changes.until(lambda: session.frames == 2)
        assert (taken(session) == 9).all()
        assert session.stats.rectangles == 4
        assert session.stats.pixels == 2 * WIDTH * HEIGHT + 1
        assert session.stats.bytes == sent


@pytest.mark.parametrize("pieces", [1, 2, 7, 1448])
async def test_bytes_may_come_in_any_pieces(opened, pieces):
    """F11."""

    async def talk(peer: Peer) -> None:
        await peer.request()
        data = update(raw(3, 0, 0, 5, HEIGHT), raw(4, 5, 0, 3, HEIGHT)) + b"\x02"
        for at in range(0, len(data), pieces):
            peer.write(data[at : at + pieces])
            await peer.writer.drain()
        await peer.idle()

    async with opened.to(talk) as (session, changes):
        await changes.until(lambda: session.frames == 1)
        assert (taken(session)[:, :5] == 3).all()
        assert (taken(session)[:, 5:] == 4).all()


async def test_a_frame_is_shown_whole_or_not_at_all(opened):
    """The frame is taken repeatedly while three rectangles arrive in small pieces."""

    async def talk(peer: Peer) -> None:
        for value in range(1, 31):
            await peer.request()
            data = update(raw(value, 0, 0, WIDTH, 3), raw(value, 0, 3, WIDTH, 2), raw(value, 0, 5, WIDTH, 1))
            for at in range(0, len(data), 16):
                peer.write(data[at : at + 16])
                await peer.writer.drain()
                await asyncio.sleep(0)
        await peer.idle()

    async with opened.to(talk) as (session, _), asyncio.timeout(60):
        while session.frames < 30:
            assert len(np.unique(taken(session))) == 1, "half an update is shown"
            await asyncio.sleep(0)
        assert (taken(session) == 30).all()


async def test_take_into_another_shape_is_refused(opened):
    async with opened.to(Peer.idle) as (session, _):
        with pytest.raises(ValueError, match="shape"):
            session.take(np.zeros((1, 2, 3), np.uint8))


async def test_what_came_before_the_end_can_be_taken_after_it(opened):
    async def talk(peer: Peer) -> None:
        await peer.request()
        peer.update(raw(7))

    async with opened.to(talk) as (session, changes):
        await changes.until(lambda: session.error is not None)
        assert isinstance(session.error, PeerLost)
        assert (taken(session) == 7).all()
