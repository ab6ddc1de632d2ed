"""Shared frames of hostile servers: they end the session, or leave it with VNC; nothing else happens."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
from pathlib import Path

import pytest

from tests.support.drivers import needs_native
from tests.support.system.memory import agree, driver, giving, memory, offer, path, shared
from tests.support.vnc.hostile_memory import UNUSABLE, VIOLATIONS
from tests.support.vnc.rfb import Peer, listening, raw, update
from tests.support.vnc.sessions import CALM, Opener, taken
from vnc.encodings import preference
from vnc.errors import ProtocolError
from vnc.session import Timeouts

__all__ = ["driver", "memory", "path"]
pytestmark = needs_native


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
