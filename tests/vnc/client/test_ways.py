"""Pixels are the same whichever way they come: through shared memory, or encoded for either driver."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.drivers import needs_native
from tests.support.vnc.sessions import Changes, Opener, taken
from vnc import drivers
from vnc.encodings import preference
from vnc.server.server import VNCServer
from vnc.session import Frame, Session

pytestmark = needs_native

WIDTH, HEIGHT = 150, 70

patches = st.tuples(
    st.integers(0, WIDTH - 1), st.integers(0, HEIGHT - 1), st.integers(1, WIDTH), st.integers(1, HEIGHT),
    st.integers(0, 2**32 - 1), st.booleans(),
)  # fmt: skip
"""x, y, width, height (cut at the edges), the seed of their pixels, whether the clients have to see this frame."""


def paint(frame: Frame, x: int, y: int, width: int, height: int, seed: int) -> None:
    part = frame[y : y + height, x : x + width]
    part[...] = np.random.default_rng(seed).integers(0, 256, part.shape, np.uint8)


@asynccontextmanager
async def sessions(server: VNCServer) -> AsyncIterator[list[tuple[Session, Changes]]]:
    """One session of each way; the first has its shared frames."""
    port = server.port
    native, portable = Opener(drivers.connect("native")), Opener(drivers.connect("portable"))
    encodings = preference("zrle", None, "127.0.0.1")
    async with (
        native.on(port) as shared,
        native.on(port, encodings=encodings) as zrle,
        portable.on(port) as raw,
    ):
        await until_shared(server, *shared)
        yield [shared, zrle, raw]


async def until_shared(server: VNCServer, session: Session, changes: Changes) -> None:
    """Draw until pixels come through shared memory; then a black frame."""
    frame = np.zeros((HEIGHT, WIDTH, 3), np.uint8)

    def is_shared() -> bool:
        frame[...] += 1
        server.present(frame)
        return session.pixels_by == "shared"

    await changes.until(is_shared)
    server.present(np.zeros_like(frame))


@given(st.lists(patches, min_size=1, max_size=12))
@settings(max_examples=20, deadline=None)
def test_every_frame_is_the_same_on_every_way(drawn):
    async def play() -> None:
        server = VNCServer(WIDTH, HEIGHT)
        await server.start()
        try:
            async with sessions(server) as opened:
                frame = np.zeros((HEIGHT, WIDTH, 3), np.uint8)
                kept = [
                    np.zeros_like(frame) for _ in opened
                ]  # has only the damage of each take copied into it
                for *patch, look in (*drawn, (0, 0, 1, 1, 0, True)):
                    paint(frame, *patch)
                    server.present(frame)
                    if look:
                        for (session, changes), out in zip(opened, kept, strict=True):
                            await changes.until(lambda s=session, o=out: is_in(frame, s, o))
                            assert (taken(session) == frame).all()
                assert [session.pixels_by for session, _ in opened] == ["shared", "vnc", "vnc"]
        finally:
            await server.close()

    asyncio.run(play())


def is_in(frame: Frame, session: Session, out: Frame) -> bool:
    session.take(out)
    return bool((out == frame).all())


async def test_the_pixels_that_a_refresh_promises_are_there():
    server = VNCServer(WIDTH, HEIGHT)
    await server.start()
    try:
        async with sessions(server) as opened:
            for number in range(1, 40):
                server.present(np.full((HEIGHT, WIDTH, 3), number, np.uint8))
                for session, changes in opened:
                    refresh = session.refresh()
                    await changes.until(lambda s=session, r=refresh: s.generation >= r)
                    assert (taken(session) == number).all()
    finally:
        await server.close()


async def test_many_readers_that_come_and_go():
    """More than there are buffers for; those that get none are served by VNC."""
    server = VNCServer(WIDTH, HEIGHT)
    await server.start()
    native = Opener(drivers.connect("native"))
    rng = np.random.default_rng(4)

    async def read(rounds: int) -> None:
        for _ in range(rounds):
            async with native.on(server.port) as (session, changes):
                count = session.frames + int(rng.integers(1, 30))
                await changes.until(lambda s=session, c=count: s.frames >= c and whole(taken(s)))
                assert session.error is None

    async def draw() -> None:
        while True:
            server.present(np.full((HEIGHT, WIDTH, 3), rng.integers(256), np.uint8))
            await asyncio.sleep(0)

    drawing = asyncio.create_task(draw())
    try:
        await asyncio.gather(*(read(5) for _ in range(10)))
    finally:
        drawing.cancel()
        await server.close()


def whole(frame: Frame) -> bool:
    """Whether all pixels are of one frame; every frame has one value."""
    assert (frame == frame[0, 0, 0]).all(), "a torn frame"
    return True
