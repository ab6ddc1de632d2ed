"""The native driver; tests of both drivers are in `drivers/`."""

from __future__ import annotations

import asyncio
import os
import struct
import subprocess
import sys

import numpy as np
import pytest

from tests.support.drivers import needs_native
from tests.support.vnc.rfb import HEIGHT, WIDTH, Peer, header, raw, update
from tests.support.vnc.sessions import Opener, taken
from tests.support.vnc.xvnc import logo
from vnc.encodings import DESKTOP_SIZE
from vnc.errors import LimitExceeded, ProtocolError
from vnc.session import Frame

pytestmark = needs_native


@pytest.fixture
def driver() -> str:
    return "native"


async def test_take_copies_damage_only_and_knows_its_arrays(opened):
    go_on = asyncio.Event()

    async def talk(peer: Peer) -> None:
        await peer.request()
        peer.update(raw(1))
        await go_on.wait()
        peer.update(raw(2, 0, 0, 1, 1))
        await peer.idle()

    async with opened.to(talk) as (session, changes):
        await changes.until(lambda: session.frames == 1)
        batch = np.zeros((2, *session.shape), np.uint8)
        assert session.take(batch[0]) == 1
        assert (batch[0] == 1).all()
        batch[0] = 9
        assert session.take(batch[0]) == 1
        assert (batch[0] == 9).all(), "nothing changed, so nothing is copied"
        go_on.set()
        await changes.until(lambda: session.frames == 2)
        assert session.take(batch[0]) == 2
        assert batch[0, 0, 0, 0] == 2
        assert session.take(batch[1]) == 2, "another array of the same owner is whole"
        assert (batch[1].ravel()[3:] == 1).all()
        for _ in range(50):  # memory that is given back and used again is another array
            assert taken(session).ravel()[-1] == 1


async def test_a_session_that_is_closed_has_no_descriptors(opened):
    """However long somebody holds on to it."""
    before = descriptors()
    async with opened.to(Peer.idle) as (session, changes):
        assert len(descriptors()) > len(before)
    assert session.error is not None
    await changes.until(lambda: descriptors() == before)


def descriptors() -> set[str]:
    return {entry.name for entry in os.scandir("/proc/self/fd") if os.path.exists(entry.path)}


async def test_python_is_told_once_of_frames_that_nobody_takes(opened):
    go_on = asyncio.Event()

    async def talk(peer: Peer) -> None:
        for value in (1, 2, 3, 4, 5):
            await peer.request()
            peer.update(raw(value))
        await go_on.wait()
        peer.update(raw(6))
        await peer.idle()

    async with opened.to(talk) as (session, changes):
        await changes.until(lambda: session.frames == 5 and changes.count > 0)
        assert taken(session)[0, 0, 0] == 5
        go_on.set()
        await changes.until(lambda: session.frames == 6 and changes.count > 1)
        assert changes.count == 2


async def test_python_is_told_of_frames_while_it_listens(opened):
    steps = [asyncio.Event() for _ in range(3)]

    async def talk(peer: Peer) -> None:
        await peer.request()
        peer.update(raw(1))
        for value, step in enumerate(steps, 2):
            await step.wait()
            peer.update(raw(value))
        await peer.idle()

    async with opened.to(talk) as (session, changes):
        await changes.until(lambda: session.frames == 1 and changes.count == 1)
        assert not session.listen(False)
        taken(session)
        steps[0].set()
        await changes.until(lambda: session.frames == 2)
        assert not session.listen(False)
        assert session.listen(True), "a frame that is new"
        assert not session.listen(True), "it was told of"
        taken(session)
        session.listen(False)
        steps[1].set()
        await changes.until(lambda: session.frames == 3)
        taken(session)
        assert not session.listen(True), "nothing is new"
        assert changes.count == 1, "nobody was told of a frame"
        steps[2].set()
        await changes.until(lambda: session.frames == 4 and changes.count == 2)


async def test_python_is_told_of_refreshes_and_of_the_end_though_it_does_not_listen(opened):
    ends = asyncio.Event()

    async def talk(peer: Peer) -> None:
        await peer.request()
        peer.update(raw(1))
        while (await peer.request()).incremental:
            pass
        for _ in range(2):  # the answers to the incremental request, and to the refresh
            peer.update(raw(2))
        await ends.wait()

    async with opened.to(talk) as (session, changes):
        await changes.until(lambda: session.frames >= 1 and changes.count == 1)
        session.listen(False)
        refresh = session.refresh()
        await changes.until(lambda: session.generation == refresh and changes.count == 2)
        ends.set()
        await changes.until(lambda: session.error is not None and changes.count == 3)


async def test_take_refuses_an_array_that_is_not_contiguous(opened):
    async with opened.to(Peer.idle) as (session, _):
        with pytest.raises(ValueError, match="contiguous"):
            session.take(np.zeros((WIDTH, HEIGHT, 3), np.uint8).transpose(1, 0, 2))


async def test_a_screen_that_is_resized_has_its_new_shape_and_is_asked_for_whole(opened):
    async def talk(peer: Peer) -> None:
        await peer.request()
        peer.update(raw(1))
        await peer.request()
        peer.update(header(0, 0, 4, 10, DESKTOP_SIZE))
        request = await peer.request()
        while request.incremental:
            request = await peer.request()
        assert (request.width, request.height) == (4, 10)
        peer.update(raw(2, 0, 0, 4, 10))
        await peer.idle()

    async with opened.to(talk) as (session, changes):
        old = np.zeros(session.shape, np.uint8)
        await changes.until(lambda: session.shape == (10, 4, 3))
        with pytest.raises(ValueError, match=r"the screen is \(10, 4, 3\)"):
            session.take(old)
        await changes.until(lambda: (taken(session) == 2).all())
        assert session.error is None


@pytest.mark.parametrize(
    ("data", "kind", "words"),
    [
        (update(header(0, 0, 60000, 6, DESKTOP_SIZE)), LimitExceeded, "width of 60000"),
        (update(header(0, 0, 8, 6, 6) + struct.pack(">I", 3) + b"abc"), ProtocolError, "zlib"),
    ],
)
async def test_hostile_rects_end_the_session_with_a_typed_error(opened, data, kind, words):
    error = await opened.error_after(data)
    assert type(error) is kind
    assert words in str(error)


async def picture_in(opened: Opener, port: int, *encodings: int) -> Frame:
    """Return the frame of a new session that requests these encodings."""
    async with opened.on(port, encodings=encodings) as (session, changes):
        wanted = session.refresh()
        await changes.until(lambda: session.generation >= wanted)
        return taken(session)


async def test_all_encodings_show_the_same_picture_of_real_xvnc(opened, xvnc):
    port, display = xvnc
    async with logo(display, "-geometry", "250x150+31+17", "-fg", "orange"):
        async with asyncio.timeout(60):
            while len(np.unique(picture := await picture_in(opened, port, 0))) < 3:
                pass
        for encoding in (7, 16, 5, 2):
            for extra in ((), (1, -224), (-224, -312, -313)):
                assert (await picture_in(opened, port, encoding, *extra) == picture).all(), (encoding, extra)


REENTRANT = """
import asyncio, gc, sys
import numpy as np
from tests.support.vnc.rfb import Peer, raw
from tests.support.vnc.sessions import Opener, taken
from vnc import drivers

class Cycle:
    '''Collected at some allocation, it takes a frame itself.'''

    taken = 0

    def __init__(self, session):
        self.session, self.me = session, self

    def __del__(self):
        if not gc.isenabled():
            return
        gc.disable()
        taken(self.session)
        Cycle.taken += 1
        gc.enable()

async def main():
    async def talk(peer):
        await peer.request()
        peer.update(raw(7))
        await peer.idle()

    async with Opener(drivers.connect("native")).to(talk) as (session, changes):
        await changes.until(lambda: session.frames == 1)
        gc.set_threshold(1)
        arrays = [np.zeros(session.shape, np.uint8) for _ in range(200)]
        for array in arrays:
            Cycle(session)
            session.take(array)
            assert (array == 7).all()
        gc.set_threshold(700)
        assert Cycle.taken > 100, Cycle.taken

asyncio.run(main())
print("done")
"""


def test_a_collection_within_take_may_take_a_frame_itself():
    """No lock is held while Python allocates."""
    done = subprocess.run([sys.executable, "-c", REENTRANT], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.returncode) == ("done\n", 0), done.stderr
