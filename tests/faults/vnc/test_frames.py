"""Frames during a change of the screen's size, and during an update, on every driver (F26)."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path

import numpy as np
import pytest

from tests.support.remotes.agent import Step, running, until
from tests.support.vnc.rfb import Peer, header, listening, raw, update
from tests.support.vnc.sessions import taken
from tests.support.vnc.xvnc import xvnc_server
from tests.vnc.rfb_client import RFBClient
from universe_client.core.event_loop.loop import LoopThread
from universe_client.providers.provider import RemoteAddress
from vnc.encodings import DESKTOP_SIZE, EXTENDED_DESKTOP_SIZE
from vnc.session import VNCAddress

SIDE = 2048
"""Pixels along a screen of which one Raw update is larger than what the native driver holds back."""
SIZES = [(640, 480), (200, 300), (1024, 768), (320, 200)] * 3


@pytest.mark.fault("F26", "server resize mid-update and between steps")
async def test_f26_half_of_a_huge_update_is_never_in_an_array_that_was_never_filled(opened, measure):
    """The test takes frames into new arrays while an update of 16 MiB arrives in pieces."""
    looked = asyncio.Event()

    async def talk(peer: Peer) -> None:
        await peer.open(SIDE, SIDE)
        await peer.request()
        peer.update(raw(1, 0, 0, SIDE, SIDE))
        await peer.request()
        second = update(raw(2, 0, 0, SIDE, SIDE))
        peer.write(second[: len(second) * 3 // 4])
        await peer.writer.drain()
        await looked.wait()
        peer.write(second[len(second) * 3 // 4 :])
        await peer.request()
        await peer.idle()

    async with listening(talk) as port, opened.on(port) as (session, changes):
        await changes.until(lambda: session.frames == 1)
        frames = [taken(session)]
        async with asyncio.timeout(60):
            while session.stats.bytes < 4 * SIDE * SIDE or len(frames) < 30:
                frames = [*frames[-40:], taken(session)]
                await asyncio.sleep(0.01)
        assert all((frame == 1).all() for frame in frames), "half an update is shown"
        looked.set()
        await changes.until(lambda: session.frames == 2)
        assert (taken(session) == 2).all()
        measure("mixed frames", 0, at_most=0)


@pytest.mark.fault("F26", "server resize mid-update and between steps")
@pytest.mark.parametrize(
    "driver", ["native"]
)  # the portable driver does not request the encodings that report a new size
async def test_f26_a_new_size_is_shown_when_every_pixel_of_it_has_come(opened, measure):
    looked = asyncio.Event()

    async def talk(peer: Peer) -> None:
        await peer.request()
        peer.update(raw(1))
        await peer.request()
        peer.update(raw(9, 0, 0, 3, 3), header(0, 0, 20, 10, DESKTOP_SIZE), raw(2, 0, 0, 20, 4))
        while (await peer.request()).incremental:
            pass
        peer.update(raw(2, 0, 4, 20, 1))
        await looked.wait()
        peer.update(raw(2, 0, 5, 20, 5))
        await peer.idle()

    async with opened.to(talk) as (session, changes):
        await changes.until(lambda: session.frames == 1)
        old = np.zeros(session.shape, np.uint8)
        session.take(old)
        for _ in range(30):
            assert session.shape == old.shape
            assert (taken(session) == 1).all()
            session.take(old)
            assert (old == 1).all()
            await asyncio.sleep(0)
        looked.set()
        await changes.until(lambda: session.shape == (10, 20, 3))
        assert session.frames == 2
        assert (taken(session) == 2).all()
        measure("mixed frames", 0, at_most=0)


@pytest.fixture
def white_xvnc(tmp_path: Path, far_side: LoopThread) -> Iterator[tuple[int, RFBClient]]:
    """Run TigerVNC's server with a white screen; yield its port, and a client that may change its size."""
    stack = AsyncExitStack()
    port, _ = far_side.run(stack.enter_async_context(xvnc_server(tmp_path, None, "-wr")), 60)
    client = far_side.run(RFBClient.connect(port), 60)
    client.set_encodings(EXTENDED_DESKTOP_SIZE)
    stack.callback(client.writer.transport.abort)
    yield port, client
    far_side.run(stack.aclose(), 60)


@pytest.mark.fault("F26", "server resize mid-update and between steps")
def test_f26_every_observation_of_real_xvnc_is_whole_while_its_size_changes(
    open_env, white_xvnc, far_side: LoopThread, measure
):
    """Pixels that no update has drawn are black. The server disconnects the portable driver, which connects again."""
    port, client = white_xvnc
    env = open_env(RemoteAddress(VNCAddress("127.0.0.1", port)))
    env.reset()
    until(env, running)
    observations = 0
    for width, height in SIZES:
        far_side.call(resize, client, width, height)
        for step in until(env, lambda step, shape=(height, width, 3): shape_of(step) == shape, timeout=20):
            if step.observation is not None:
                observations += 1
                assert (step.observation["vision"] == 255).all(), "a part that nobody drew is shown"
    env.close()
    measure("whole observations", observations, at_least=len(SIZES))


def shape_of(step: Step) -> tuple[int, ...] | None:
    return None if step.observation is None else step.observation["vision"].shape


def resize(client: RFBClient, width: int, height: int) -> None:
    """Send SetDesktopSize (rfbproto 7.4.10): 1 padding + 2 width + 2 height + 1 screens + 1 padding + 16 each."""
    client.writer.write(struct.pack(">BxHHBxIHHHHI", 251, width, height, 1, 0, 0, 0, width, height, 0))
