"""The native driver against our server, real Xvnc, and servers that break what they can."""

from __future__ import annotations

import asyncio
import os
import socket
import struct
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

import numpy as np
import pytest

pytest.importorskip("vnc._core", reason="the native extension is not built")

from tests.support.rfb import HEIGHT, QUICK, WIDTH, Peer, header, listening, raw
from vnc.errors import AuthError, ConnectError, LimitExceeded, PeerLost, ProtocolError
from vnc.events import KeyEvent, PointerEvent, encode
from vnc.native import NativeSession, connect
from vnc.server import ServerLimits, VNCServer
from vnc.session import Limits, Timeouts, VNCAddress

CALM = Timeouts(probe_interval=30.0)  # no probe disturbs the conversation


class Changes:
    """Waits for a condition of a session, looked at whenever the session says that something changed."""

    def __init__(self) -> None:
        self.count = 0
        self._event = asyncio.Event()

    def __call__(self) -> None:
        self.count += 1
        self._event.set()

    async def until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(10):
            while not condition():
                self._event.clear()
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._event.wait(), 0.02)


@asynccontextmanager
async def session_with(
    talk: Callable[[Peer], Awaitable[None]],
    timeouts: Timeouts = CALM,
    limits: Limits = Limits(),  # noqa: B008
) -> AsyncIterator[tuple[NativeSession, Changes]]:
    """A session with a scripted server, which begins after the handshake."""

    async def serve(peer: Peer) -> None:
        await peer.open()
        await talk(peer)

    changes = Changes()
    async with listening(serve) as port:
        session = await connect(
            VNCAddress("127.0.0.1", port), on_change=changes, timeouts=timeouts, limits=limits
        )
        try:
            yield session, changes
        finally:
            await session.close()


def taken(session: NativeSession) -> np.ndarray:
    out = np.zeros(session.shape, np.uint8)
    session.take(out)
    return out


def update(*rects: bytes) -> bytes:
    return struct.pack(">BxH", 0, len(rects)) + b"".join(rects)


async def until_idle(peer: Peer) -> None:
    """Read whatever the client says until it is gone."""
    await peer.reader.read()


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


@pytest.fixture
async def server() -> AsyncIterator[VNCServer]:
    server = VNCServer(40, 30, password="pass wor", limits=ServerLimits(failure_delay=0.01))
    await server.start()
    yield server
    await server.close()


async def test_shows_what_our_server_shows(server):
    changes = Changes()
    session = await connect(VNCAddress("127.0.0.1", server.port, "pass wor"), on_change=changes)
    rng = np.random.default_rng(1)
    out = np.zeros(session.shape, np.uint8)

    def shows(picture: np.ndarray) -> bool:
        session.take(out)
        return bool((out == picture).all())

    for _ in range(10):
        picture = rng.integers(0, 256, (30, 40, 3), dtype=np.uint8)
        server.present(picture)
        await changes.until(lambda picture=picture: shows(picture))
    picture[3:5, 7:11] = 1
    server.present(picture)
    await changes.until(lambda: shows(picture))
    assert session.shape == (30, 40, 3)
    assert session.name == "universe-client"
    assert session.stats.updates == session.frames >= 2
    assert 0 <= time.monotonic() - session.frame_time < 5
    await session.close()
    await session.close()
    assert isinstance(session.error, PeerLost)


async def test_a_wrong_password_is_an_auth_error(server):
    with pytest.raises(AuthError):
        await connect(VNCAddress("127.0.0.1", server.port, "wrong"), on_change=Changes())


async def test_a_server_without_password_is_refused_when_one_is_configured():
    server = VNCServer(10, 10)
    await server.start()
    with pytest.raises(AuthError, match="does not ask"):
        await connect(VNCAddress("127.0.0.1", server.port, "secret"), on_change=Changes())
    await server.close()


async def test_input_reaches_the_server_in_order_in_one_piece_from_any_thread():
    events = [KeyEvent(0xFF51, True), PointerEvent(3, 4, 1), KeyEvent(0xFF51, False)]
    received = b""
    done = asyncio.Event()

    async def talk(peer: Peer) -> None:
        nonlocal received
        await peer.request()
        received = await peer.read(20 * len(encode(events)))
        done.set()
        await until_idle(peer)

    async with session_with(talk) as (session, _):
        threads = [threading.Thread(target=session.send, args=(events,)) for _ in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        await asyncio.wait_for(done.wait(), 5)
        assert received == encode(events) * 20
    session.send(events)  # over: no effect


async def test_refresh_comes_true_on_our_server(server):
    changes = Changes()
    session = await connect(VNCAddress("127.0.0.1", server.port, "pass wor"), on_change=changes)
    for value in range(1, 30):
        server.present(np.full((30, 40, 3), value, np.uint8))
        wanted = session.refresh()
        await changes.until(lambda wanted=wanted: session.generation >= wanted)
        assert (taken(session) == value).all()
    await session.close()


async def test_an_update_under_way_does_not_satisfy_a_refresh():
    refreshed, looked = asyncio.Event(), asyncio.Event()

    async def talk(peer: Peer) -> None:
        await peer.request()
        peer.update(raw(1))
        assert (await peer.request()).incremental
        await refreshed.wait()
        peer.update(raw(2))  # drawn before the refresh, whole, and sent after it
        assert not (await peer.request()).incremental
        await looked.wait()
        peer.update(raw(3))
        await until_idle(peer)

    async with session_with(talk) as (session, changes):
        await changes.until(lambda: session.frames == 1)
        wanted = session.refresh()
        refreshed.set()
        await changes.until(lambda: session.frames == 2)
        assert session.generation < wanted
        looked.set()
        await changes.until(lambda: session.generation >= wanted)
        assert (taken(session) == 3).all()


async def test_a_refresh_is_not_over_before_every_pixel_came():
    async def talk(peer: Peer) -> None:
        await peer.request()
        peer.update(raw(1))
        while (await peer.request()).incremental:
            pass
        peer.update(raw(2))
        for rows in ((0, 3), (3, 2)):
            await peer.request()
            peer.update(raw(3, 0, rows[0], WIDTH, rows[1]))
        await peer.request()
        peer.update(raw(3, 0, 5, WIDTH, 1))
        await until_idle(peer)

    async with session_with(talk) as (session, changes):
        await changes.until(lambda: session.frames == 1)
        wanted = session.refresh()
        await changes.until(lambda: session.generation >= wanted)
        assert (taken(session) == 3).all()


async def test_take_copies_damage_only_and_knows_its_arrays():
    go_on = asyncio.Event()

    async def talk(peer: Peer) -> None:
        await peer.request()
        peer.update(raw(1))
        await go_on.wait()
        peer.update(raw(2, 0, 0, 1, 1))
        await until_idle(peer)

    async with session_with(talk) as (session, changes):
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


@pytest.mark.parametrize(
    "out",
    [np.zeros((1, 2, 3), np.uint8), np.zeros((WIDTH, HEIGHT, 3), np.uint8).transpose(1, 0, 2)],
    ids=["another shape", "not contiguous"],
)
async def test_take_refuses_an_array_that_does_not_fit(out):
    async with session_with(until_idle) as (session, _):
        with pytest.raises(ValueError, match=r"shape|contiguous"):
            session.take(out)


@pytest.mark.parametrize(
    ("data", "kind", "words"),
    [
        (update(header(7, 0, 2, 1)), ProtocolError, r"rect 0 \(7, 0, 2x1, encoding 0\)"),
        (update(raw(1), header(0, 0, 1, 7)), ProtocolError, "rect 1"),
        (update(header(0, 0, 8, 6, 6) + b"\xff" * 4), LimitExceeded, "encoding 6.*4294967295 bytes"),
        (update(header(0, 0, 8, 6, 6) + struct.pack(">I", 3) + b"abc"), ProtocolError, "zlib"),
        (update(header(0, 0, 60000, 6, -223)), LimitExceeded, "width of 60000"),
        (struct.pack(">BxxxI", 3, 0xFFFFFFFF), LimitExceeded, "cut text of 4294967295"),
        (b"c", ProtocolError, "message type 99"),
    ],
)
async def test_hostile_messages_end_the_session_with_a_typed_error(data, kind, words):
    async def talk(peer: Peer) -> None:
        await peer.request()
        peer.write(data)
        await until_idle(peer)

    async with session_with(talk) as (session, changes):
        await changes.until(lambda: session.error is not None)
        assert type(session.error) is kind
        with pytest.raises(kind, match=words):
            raise session.error
        assert (taken(session) == 0).all(), "part of a broken update is shown"


async def test_one_hostile_server_does_not_disturb_the_others():
    async def hostile(peer: Peer) -> None:
        peer.write(b"c")
        await until_idle(peer)

    async def honest(peer: Peer) -> None:
        for value in range(1, 21):
            await peer.request()
            peer.update(raw(value))
        await until_idle(peer)

    async with session_with(honest) as (good, good_changes), session_with(hostile) as (bad, bad_changes):
        await bad_changes.until(lambda: bad.error is not None)
        await good_changes.until(lambda: good.frames == 20)
        assert good.error is None
        assert (taken(good) == 20).all()


async def test_no_probe_is_sent_while_the_server_talks_and_a_silent_one_is_lost():
    probed = asyncio.Event()

    async def talk(peer: Peer) -> None:
        await peer.request()
        peer.update(raw(1))
        await peer.request()
        probe = await peer.request()
        assert (probe.incremental, probe.width, probe.height) == (False, 1, 1)
        probed.set()
        await until_idle(peer)

    async with session_with(talk, timeouts=QUICK) as (session, changes):
        await asyncio.wait_for(probed.wait(), 5)
        assert session.error is None
        await changes.until(lambda: session.error is not None)
        assert isinstance(session.error, PeerLost)


async def test_an_update_that_does_not_end_is_lost():
    async def talk(peer: Peer) -> None:
        await peer.request()
        peer.write(update(raw(1))[:-1])
        await until_idle(peer)

    async with session_with(talk, timeouts=Timeouts(update=0.2)) as (session, changes):
        await changes.until(lambda: session.error is not None)
        assert isinstance(session.error, PeerLost)
        assert "no end of an update" in str(session.error)


async def test_a_peer_that_does_not_read_is_lost_and_nobody_waits():
    over = asyncio.Event()

    async def talk(peer: Peer) -> None:
        await peer.request()
        peer.writer.transport.pause_reading()
        await over.wait()

    events = [KeyEvent(97, True)] * 10_000
    async with session_with(talk) as (session, changes):
        began = time.monotonic()
        for _ in range(2000):
            session.send(events)
            if session.error is not None:
                break
        assert isinstance(session.error, PeerLost)
        assert time.monotonic() - began < 5
        await changes.until(lambda: changes.count > 0)
        over.set()


async def test_the_end_of_the_connection_is_seen_at_once():
    async def talk(peer: Peer) -> None:
        await peer.request()
        peer.update(raw(7))

    async with session_with(talk) as (session, changes):
        await changes.until(lambda: session.error is not None)
        assert isinstance(session.error, PeerLost)
        assert (taken(session) == 7).all(), "what came with the end is shown"


async def test_handshakes_that_fail():
    async def silent(peer: Peer) -> None:
        await until_idle(peer)

    async def hangs_up(peer: Peer) -> None:
        await peer.greet()

    async def web(peer: Peer) -> None:
        peer.write(b"HTTP/1.1 400 Bad Request\r\n")
        await until_idle(peer)

    for talk, kind, words in (
        (silent, ConnectError, "within 0.2 s"),
        (hangs_up, ConnectError, "closed"),
        (web, ProtocolError, "not an RFB server"),
    ):
        async with listening(talk) as port:
            with pytest.raises(kind, match=words):
                await connect(
                    VNCAddress("127.0.0.1", port), on_change=Changes(), timeouts=Timeouts(handshake=0.2)
                )
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        with pytest.raises(ConnectError, match="refused"):
            await connect(VNCAddress("127.0.0.1", unused.getsockname()[1]), on_change=Changes())


async def test_nothing_is_left_behind():
    async def talk(peer: Peer) -> None:
        await peer.request()
        peer.update(raw(1))
        await until_idle(peer)

    async with session_with(talk) as (session, changes):
        await changes.until(lambda: session.frames == 1)
    before = descriptors(), threading.active_count(), len(os.listdir("/proc/self/task"))
    for _ in range(30):
        async with session_with(talk) as (session, changes):
            await changes.until(lambda: session.frames == 1)
    await changes.until(lambda: descriptors() <= before[0])
    assert len(os.listdir("/proc/self/task")) <= before[2]


@pytest.fixture
async def xvnc() -> AsyncIterator[tuple[int, str]]:
    """TigerVNC's server: its port, and its display."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = await asyncio.create_subprocess_exec(
        "Xvnc", "-displayfd", "1", "-rfbport", str(port), "-localhost", "-SecurityTypes", "None", "-geometry",
        "320x200", "-depth", "24", "-UseBlacklist=0", "-AlwaysShared",
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    assert process.stdout
    display = await asyncio.wait_for(process.stdout.readline(), 20)
    yield port, display.decode().strip()
    process.kill()
    await process.wait()


async def test_real_xvnc_answers_refreshes_and_stays_idle(xvnc):
    changes = Changes()
    quick = Timeouts(probe_interval=0.05, probe_deadline=2.0)
    session = await connect(VNCAddress("127.0.0.1", xvnc[0]), on_change=changes, timeouts=quick)
    assert session.shape == (200, 320, 3)
    for _ in range(5):
        wanted = session.refresh()
        await changes.until(lambda wanted=wanted: session.generation >= wanted)
    frames = session.frames
    await changes.until(lambda: session.frames >= frames + 3)  # probes, answered
    assert session.error is None
    await session.close()


async def picture_in(port: int, *encodings: int) -> np.ndarray:
    """What a new session that asks for these encodings sees."""
    changes = Changes()
    session = await connect(VNCAddress("127.0.0.1", port), on_change=changes, encodings=encodings)
    wanted = session.refresh()
    await changes.until(lambda: session.generation >= wanted)
    await session.close()
    return taken(session)


async def test_all_encodings_show_the_same_picture_of_real_xvnc(xvnc):
    port, display = xvnc
    drawing = await asyncio.create_subprocess_exec(
        "xlogo", "-geometry", "250x150+31+17", "-fg", "orange", env={"DISPLAY": f":{display}"}
    )
    async with asyncio.timeout(10):
        while len(np.unique(picture := await picture_in(port, 0))) < 3:
            pass
    for encoding in (7, 16, 5, 2):
        for extra in ((), (1, -224), (-224, -312, -313)):
            assert (await picture_in(port, encoding, *extra) == picture).all(), (encoding, extra)
    drawing.kill()
    await drawing.wait()
