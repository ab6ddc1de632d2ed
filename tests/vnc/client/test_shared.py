"""Shared frames of the native driver, with a server that the test writes; test_shared_hostile.py has hostile ones."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from tests.support.drivers import needs_native
from tests.support.system.memory import (
    TOKEN,
    Memory,
    agree,
    driver,
    giving,
    memory,
    offer,
    path,
    release,
    shared,
)
from tests.support.vnc.rfb import HEIGHT, WIDTH, Peer, raw
from tests.support.vnc.sessions import CALM, taken

__all__ = ["driver", "memory", "path"]
pytestmark = needs_native


def numbered(buffer: int) -> np.ndarray:
    """A frame whose pixels all differ, and differ from those of other buffers."""
    pixels = np.arange(HEIGHT * WIDTH * 3).reshape(HEIGHT, WIDTH, 3)
    return ((pixels + 50 * buffer) % 251).astype(np.uint8)


async def test_the_named_parts_are_copied_and_buffers_are_released(opened, memory, path):
    for buffer in range(3):
        memory.frame(buffer)[:] = numbered(buffer)

    async def talk(peer: Peer) -> None:
        await agree(peer, path)
        peer.update(shared(0))
        assert (await peer.request()).incremental
        peer.update(shared(1, 2, 1, 3, 2), shared(1, 7, 5, 1, 1))
        await peer.request()
        assert peer.input == release(0) + release(1)
        peer.update(raw(9, 0, 0, 1, 1), shared(2, 1, 0, 1, 1))
        await peer.idle()

    async with giving(path, memory) as tokens, opened.to(talk) as (session, changes):
        expected = numbered(0)
        await changes.until(lambda: session.pixels_by == "shared")
        await changes.until(lambda: (taken(session)[0, 0] == 9).all())
        expected[1:3, 2:5] = numbered(1)[1:3, 2:5]
        expected[5, 7] = numbered(1)[5, 7]
        expected[0, 0] = 9
        expected[0, 1] = numbered(2)[0, 1]
        assert (taken(session) == expected).all()
        assert tokens == [TOKEN]
        with pytest.raises(PermissionError):
            os.truncate(memory.descriptor, 0)


async def test_the_server_may_go_back_to_vnc_and_never_send_a_shared_frame(opened, memory, path):
    async def talk(peer: Peer) -> None:
        await agree(peer, path)
        peer.update(raw(5))
        await peer.idle()

    async with giving(path, memory), opened.to(talk) as (session, changes):
        await changes.until(lambda: (taken(session) == 5).all())
        assert session.pixels_by == "vnc"


async def test_a_refresh_is_complete_with_shared_pixels(opened, memory, path):
    memory.frame(1)[:] = 7
    asked = asyncio.Event()

    async def talk(peer: Peer) -> None:
        await agree(peer, path)
        asked.set()
        while True:
            peer.update(shared(1))
            await peer.request()

    async with giving(path, memory), opened.to(talk) as (session, changes):
        await asked.wait()
        refresh = session.refresh()
        await changes.until(lambda: session.generation >= refresh)
        assert (taken(session) == 7).all()


async def test_the_end_of_the_session_ends_the_wait_for_memory(opened, path):
    tasks = asyncio.all_tasks()
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(str(path))
        listener.listen()
        listener.setblocking(False)

        async def talk(peer: Peer) -> None:
            peer.update(offer(path))
            await peer.idle()

        async with opened.to(talk):
            client, _ = await asyncio.wait_for(asyncio.get_running_loop().sock_accept(listener), 60)
        with client:
            client.settimeout(60)
            assert client.recv(100) in (TOKEN, b"")
            assert client.recv(100) == b""
    assert asyncio.all_tasks() <= tasks


async def test_the_mapping_outlives_the_server_and_ends_with_the_session(opened, path):
    memory = Memory()
    memory.frame(2)[:] = 3

    async def talk(peer: Peer) -> None:
        await agree(peer, path)
        memory.close()
        with suppress(OSError):
            path.unlink()
        peer.update(shared(2))
        await peer.idle()

    async with giving(path, memory), opened.to(talk) as (session, changes):
        await changes.until(lambda: session.pixels_by == "shared")
        assert (taken(session) == 3).all()
        assert mapped() > 0
    assert mapped() == 0


def mapped() -> int:
    """The read-only mappings of memfds in this process."""
    lines = Path("/proc/self/maps").read_text().splitlines()
    return sum("memfd:frames" in line and " r--s " in line for line in lines)


@pytest.mark.parametrize(
    ("host", "asks"), [("127.0.0.1", True), ("localhost", True), ("::1", True), ("192.0.2.1", False)]
)
def test_only_servers_on_this_host_are_asked(host: str, asks: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    from vnc.client import native
    from vnc.encodings import SHARED_FRAMES
    from vnc.session import Limits, VNCAddress

    asked: list[int] = []
    pump: Callable[..., object] = type(
        "Pump", (), {"open": lambda self, *arguments: asked.extend(arguments[6])}
    )
    numbers = [SHARED_FRAMES, 0]
    numeric = {"localhost": "127.0.0.1"}.get(host, host)
    native._open(VNCAddress(host), (numeric, 0), None, numbers, Limits(), CALM, 1.0, pump())  # type: ignore[arg-type]
    assert asked == (numbers if asks else [0])
