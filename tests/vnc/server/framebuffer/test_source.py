"""A server whose screen is a copy of another: it asks for what its clients need, and keeps the order they rely on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable

import numpy as np
import pytest

from tests.vnc.rfb_client import RFBClient
from vnc import fences
from vnc.server.framebuffer.source import MAX_WAITING
from vnc.server.server import Rect, ServerLimits, VNCServer

WIDTH, HEIGHT = 100, 70


class Original:
    """A screen that answers when the test says so."""

    def __init__(self) -> None:
        self.waiting: list[Callable[[], object]] = []
        self.asked = asyncio.Event()
        self.wishes = asyncio.Event()

    def wanted(self) -> None:
        self.wishes.set()

    def refresh(self, then: Callable[[], object]) -> None:
        self.waiting.append(then)
        self.asked.set()

    def answer(self) -> None:
        waiting, self.waiting = self.waiting, []
        for then in waiting:
            then()


@pytest.fixture
async def original() -> Original:
    return Original()


@pytest.fixture
async def server(original: Original) -> AsyncIterator[VNCServer]:
    started = VNCServer(WIDTH, HEIGHT, source=original, limits=ServerLimits(failure_delay=0.01))
    await started.start()
    yield started
    await started.close()


@pytest.fixture
async def client(server: VNCServer) -> AsyncIterator[RFBClient]:
    opened = await RFBClient.connect(server.port)
    yield opened
    opened.writer.transport.abort()


def painted(colour: int, rect: Rect) -> Callable[[np.ndarray], None]:
    def draw(frame: np.ndarray) -> None:
        frame[rect.y : rect.y + rect.height, rect.x : rect.x + rect.width] = colour

    return draw


async def test_the_whole_screen_is_sent_when_the_original_has_answered(
    server: VNCServer, client: RFBClient, original: Original
) -> None:
    client.request(False)
    await asyncio.wait_for(original.asked.wait(), 60)
    whole = Rect(0, 0, WIDTH, HEIGHT)
    server.paint([whole], painted(77, whole))
    original.answer()
    (rect,) = await client.update()
    assert (rect.width, rect.height) == (WIDTH, HEIGHT)
    assert (np.frombuffer(rect.payload, np.uint8).reshape(-1, 4)[:, :3] == 77).all()


async def test_a_fence_is_answered_after_the_original_and_after_the_pixels(
    server: VNCServer, client: RFBClient, original: Original
) -> None:
    client.request(False)
    client.writer.write(fences.encode(fences.REQUEST, b"here"))
    while len(original.waiting) < 2:
        original.asked.clear()
        await asyncio.wait_for(original.asked.wait(), 60)
    original.answer()
    assert len(await client.update()) == 1
    assert (await client.read(13))[-4:] == b"here"


async def test_a_client_that_waits_for_a_change_is_reported_and_sent_the_painted_part(
    server: VNCServer, client: RFBClient, original: Original
) -> None:
    client.request(False)
    await asyncio.wait_for(original.asked.wait(), 60)
    original.answer()
    await client.update()
    assert not server.wanted
    original.wishes.clear()
    client.request(True)
    await asyncio.wait_for(original.wishes.wait(), 60)
    assert server.wanted
    part = Rect(20, 33, 10, 10)
    server.paint([part], painted(9, part))
    (rect,) = await client.update()
    assert (rect.x, rect.y, rect.width, rect.height) == (16, 32, 16, 16)
    shown = np.frombuffer(rect.payload, np.uint8).reshape(16, 16, 4)[..., :3]
    assert (shown[1:11, 4:14] == 9).all() and shown.sum() == 9 * 300


async def test_a_silent_original_costs_a_client_that_floods_its_connection(
    server: VNCServer, client: RFBClient, original: Original
) -> None:
    for _ in range(MAX_WAITING + 1):
        client.request(False, (0, 0, 1, 1))
    assert await client.ended()
    original.answer()  # nobody is there any more


async def test_presented_and_painted_frames_add_up(server: VNCServer) -> None:
    frame = np.random.default_rng(0).integers(0, 256, (HEIGHT, WIDTH, 3), dtype=np.uint8)
    server.present(frame)
    part = Rect(0, 0, 3, 5)
    server.paint([part], painted(1, part))
    painted(1, part)(frame)
    twin = VNCServer(WIDTH, HEIGHT)
    twin.present(frame)
    assert server.checksum() == twin.checksum()
    server.present(np.zeros_like(frame))
    server.present(frame)
    assert server.checksum() == twin.checksum()
