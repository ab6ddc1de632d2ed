"""Shared frames of hostile servers: they end the session, or leave it with VNC; nothing else happens."""

from __future__ import annotations

import asyncio
import fcntl
import logging
import os
import socket
import threading
from pathlib import Path

import pytest

from tests.support.drivers import needs_native
from tests.support.system.memory import (
    Give,
    Layout,
    Memory,
    agree,
    driver,
    give,
    given,
    giving,
    memory,
    offer,
    path,
    shared,
)
from tests.support.vnc.rfb import HEIGHT, WIDTH, Peer, header, listening, raw, update
from tests.support.vnc.sessions import CALM, Opener, taken
from vnc.encodings import DESKTOP_SIZE, preference
from vnc.errors import ProtocolError
from vnc.session import Timeouts

__all__ = ["driver", "memory", "path"]
pytestmark = needs_native


def answer_of(data: bytes, *descriptors: int) -> Give:
    def answer(client: socket.socket, memory: Memory) -> None:
        socket.send_fds(client, [data], descriptors)

    return answer


def two(client: socket.socket, memory: Memory) -> None:
    socket.send_fds(client, [memory.layout.encode()], [memory.descriptor] * 2)


def many(client: socket.socket, memory: Memory) -> None:
    socket.send_fds(client, [memory.layout.encode()], [memory.descriptor] * 100)


def one_in_each_half(client: socket.socket, memory: Memory) -> None:
    for half in (memory.layout.encode()[:16], memory.layout.encode()[16:]):
        socket.send_fds(client, [half], [memory.descriptor])


def a_file(client: socket.socket, memory: Memory) -> None:
    with open(__file__) as file:
        socket.send_fds(client, [memory.layout.encode()], [file.fileno()])


def a_file_in_memory(client: socket.socket, memory: Memory) -> None:
    with open("/dev/shm", opener=lambda name, flags: os.open(name, os.O_TMPFILE | os.O_RDWR)) as file:
        os.truncate(file.fileno(), 1 << 20)
        socket.send_fds(client, [memory.layout.encode()], [file.fileno()])


def sealed(seals: int) -> Give:
    def answer(client: socket.socket, memory: Memory) -> None:
        other = Memory(seals=seals)
        give(client, other)
        other.close()

    return answer


HEADER = Layout().encode()
UNUSABLE: dict[str, tuple[Give, str]] = {
    "no answer": (lambda client, memory: None, "closed the socket after 0 of 32 bytes"),
    "half a header": (answer_of(HEADER[:16]), "closed the socket after 16 of 32 bytes"),
    "half a header and a descriptor": (answer_of(HEADER[:31], 1), "closed the socket after 31 of 32 bytes"),
    "more than a header": (answer_of(HEADER + b"x", 1), "more than a header"),
    "no descriptor": (answer_of(HEADER), "0 descriptors"),
    "two descriptors": (two, "2 descriptors"),
    "a hundred descriptors": (many, "2 descriptors"),
    "two descriptors in two parts": (one_in_each_half, "2 descriptors"),
    "a file": (a_file, "not a memfd"),
    "a file of a memory file system": (a_file_in_memory, "seals 0x1"),
    "no seals": (sealed(0), "seals 0x0, needed are 0x7"),
    "seals that can be removed": (sealed(fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW), "seals 0x6"),
    "memory that can shrink": (sealed(fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL), "seals 0x5"),
    "another magic": (given(magic=b"UCSG"), "begins with b'UCSG'"),
    "another version": (given(version=2), "version 2"),
    "no buffers": (given(buffers=0), "0 buffers"),
    "too many buffers": (given(buffers=17), "17 buffers"),
    "buffers beyond the memory": (given(buffers=4), "buffers end at byte"),
    "an offset beyond the memory": (given(offset=0xFFFFFFFF), "buffers end at byte"),
    "a distance that overflows": (given(distance=0xFFFFFFFFFFFFFFFF), "bytes apart"),
    "a distance that overflows with the offset": (given(buffers=2, distance=2**64 - 1), "bytes apart"),
    "rows that overlap": (given(stride=WIDTH * 3 - 1), "rows of 23 bytes for 8 pixels"),
    "rows of 4 GiB": (given(stride=0xFFFFFFFF), "buffers end at byte"),
    "a wider screen": (given(width=WIDTH + 1), "frames of 9x6 pixels for a screen of 8x6"),
    "a screen that is larger by 2^16": (given(height=HEIGHT + 65536), "frames of 8x65542 pixels"),
}


async def stays_with_vnc(
    opened: Opener, path: Path, caplog: pytest.LogCaptureFixture, timeouts: Timeouts = CALM
) -> str:
    """Assert that an offer changes nothing but the log; return what it says."""
    offered = asyncio.Event()
    before = descriptors()

    async def talk(peer: Peer) -> None:
        await peer.request()
        peer.update(offer(path), raw(1))
        await offered.wait()
        assert (await peer.request()).incremental
        peer.update(raw(2))
        await peer.request()
        assert peer.input == b""
        await peer.idle()

    caplog.set_level(logging.INFO, "vnc.client.shared")
    async with opened.to(talk, timeouts) as (session, changes):
        await changes.until(lambda: bool(caplog.records))
        offered.set()
        await changes.until(lambda: session.frames == 2)
        assert (taken(session) == 2).all()
        assert (session.error, session.pixels_by) == (None, "vnc")
    await changes.until(lambda: descriptors() <= before)
    (record,) = caplog.records
    assert "pixels come by VNC" in record.message
    return str(record.message)


def descriptors() -> set[str]:
    """The descriptors of this process, apart from the two that the servers of the test listen on."""
    return {entry.name for entry in os.scandir("/proc/self/fd") if os.path.exists(entry.path)}


@pytest.mark.parametrize(("answer", "words"), UNUSABLE.values(), ids=UNUSABLE)
async def test_memory_that_is_not_usable_is_not_used(opened, memory, path, caplog, answer, words):
    async with giving(path, memory, answer):
        assert words in await stays_with_vnc(opened, path, caplog)


async def test_a_socket_that_does_not_exist(opened, path, caplog):
    assert "No such file or directory" in await stays_with_vnc(opened, path, caplog)


async def test_a_file_in_place_of_the_socket(opened, path, caplog):
    path.touch()
    assert "Connection refused" in await stays_with_vnc(opened, path, caplog)


async def test_a_socket_that_never_answers(opened, path, caplog):
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(str(path))
        listener.listen()
        hasty = Timeouts(connect=0.5, probe_interval=30.0)
        assert "no memory within 0.5 s" in await stays_with_vnc(opened, path, caplog, hasty)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be another user")
async def test_a_socket_of_another_user(opened, path, caplog):
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(str(path))
        os.seteuid(65534)
        try:
            listener.listen()
        finally:
            os.seteuid(0)
        assert "belongs to user 65534" in await stays_with_vnc(opened, path, caplog)


VIOLATIONS: dict[str, tuple[list[bytes], str]] = {
    "a buffer that does not exist": ([shared(3)], "offset 0: shared buffer 3, there are 3"),
    "a buffer beyond 31 bits": ([shared(0xFFFFFFFF)], "shared buffer 4294967295"),
    "two buffers in one update": ([shared(0), shared(1)], "rect 1 (0, 0, 8x6, encoding 1430454273), offset 0"),
    "beyond the screen": ([shared(0, 1)], "outside the 8x6 framebuffer"),
    "a second offer": ([offer(b"/tmp/x")], "encoding -1430454274), offset 0: encoding was not requested"),
    "a resize before": (
        [header(0, 0, 4, 4, DESKTOP_SIZE), shared(0, 0, 0, 4, 4)], "frames of 8x6 pixels on a screen of 4x4"
    ),
}  # fmt: skip


@pytest.mark.parametrize(("rects", "words"), VIOLATIONS.values(), ids=VIOLATIONS)
async def test_violations_end_the_session(opened, memory, path, rects, words):
    async def talk(peer: Peer) -> None:
        await agree(peer, path)
        peer.update(*rects)
        await peer.idle()

    async with giving(path, memory), opened.to(talk) as (session, changes):
        await changes.until(lambda: session.error is not None)
        assert isinstance(session.error, ProtocolError)
        assert words in str(session.error)


@pytest.mark.parametrize("data", [update(offer(b"/tmp/x")), update(shared(0))], ids=["offer", "frame"])
async def test_what_was_not_asked_for_is_refused(opened, data):
    async def talk(peer: Peer) -> None:
        await peer.open()
        await peer.request()
        peer.write(data)
        await peer.idle()

    async with (
        listening(talk) as port,
        opened.on(port, encodings=preference("raw", None, "127.0.0.1")) as (session, changes),
    ):
        await changes.until(lambda: session.error is not None)
        assert "encoding was not requested" in str(session.error)


@pytest.mark.parametrize(
    "rect", [offer(b"frames"), offer(b"/x", version=2), offer(b"/\x1b[2J"), offer(b"/" * 108)]
)
async def test_offers_that_are_malformed_are_refused(opened, rect):
    error = await opened.error_after(update(rect))
    assert isinstance(error, ProtocolError)
    assert "broken offer of shared frames" in str(error)
    assert "\x1b" not in str(error)


async def test_pixels_that_change_during_the_copy_are_wrong_pixels_and_nothing_else(opened, memory, path):
    stop = threading.Event()

    def scribble() -> None:
        value = 0
        while not stop.is_set():
            value += 1
            memory.frame(0)[:] = value % 256

    async def talk(peer: Peer) -> None:
        await agree(peer, path)
        for _ in range(300):
            peer.update(shared(0))
            await peer.request()
        await peer.idle()

    thread = threading.Thread(target=scribble)
    thread.start()
    try:
        async with giving(path, memory), opened.to(talk) as (session, changes):
            await changes.until(lambda: session.stats.rectangles >= 300)
            assert session.error is None
    finally:
        stop.set()
        thread.join()
