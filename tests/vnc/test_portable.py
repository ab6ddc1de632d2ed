"""The portable driver against our server, real Xvnc, and servers that break what they can."""

from __future__ import annotations

import asyncio
import re
import struct
import time
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

import numpy as np
import pytest

from tests.support.rfb import HEIGHT, QUICK, WIDTH, Peer, header, listening, raw
from vnc.errors import AuthError, ConnectError, LimitExceeded, PeerLost, ProtocolError, VNCError
from vnc.events import KeyEvent, PointerEvent, encode
from vnc.portable import PortableSession, connect
from vnc.server import ServerLimits, VNCServer
from vnc.session import Limits, Timeouts, VNCAddress

CALM = Timeouts(probe_interval=30.0)  # no probe disturbs the conversation


class Changes:
    """Waits for a condition of a session, looked at when it says that something changed, and now and then."""

    def __init__(self) -> None:
        self._event = asyncio.Event()

    def __call__(self) -> None:
        self._event.set()

    async def until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(5):
            while not condition():
                self._event.clear()
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._event.wait(), 0.02)


@asynccontextmanager
async def session_with(
    talk: Callable[[Peer], Awaitable[None]],
    timeouts: Timeouts = CALM,
    limits: Limits = Limits(),  # noqa: B008
) -> AsyncIterator[tuple[PortableSession, Changes]]:
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


def taken(session: PortableSession) -> np.ndarray:
    out = np.zeros(session.shape, np.uint8)
    session.take(out)
    return out


async def error_after(data: bytes, limits: Limits = Limits()) -> VNCError:  # noqa: B008
    """What becomes of a session whose server sends `data`, and stays."""

    async def talk(peer: Peer) -> None:
        await peer.request()
        peer.write(data)
        await peer.reader.read()

    async with session_with(talk, limits=limits) as (session, changes):
        await changes.until(lambda: session.error is not None)
        assert session.error is not None
        assert (taken(session) == 0).all(), "part of a broken update is shown"
        return session.error


def update(*rects: bytes) -> bytes:
    return struct.pack(">BxH", 0, len(rects)) + b"".join(rects)


# -- the honest server of ours


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
    for _ in range(5):
        picture = rng.integers(0, 256, (30, 40, 3), dtype=np.uint8)
        server.present(picture)
        await changes.until(lambda picture=picture: (taken(session) == picture).all())
    picture[3:5, 7:11] = 1
    server.present(picture)
    await changes.until(lambda: (taken(session) == picture).all())
    assert session.shape == (30, 40, 3)
    assert session.name == "universe-client"
    assert session.frames >= 2
    assert time.monotonic() - session.frame_time < 5
    await session.close()
    await session.close()
    assert isinstance(session.error, PeerLost)


async def test_input_reaches_our_server_in_order():
    received: list[object] = []
    arrived = asyncio.Event()

    def on_events(events: object) -> None:
        received.extend(events)  # type: ignore[arg-type]
        if len(received) >= 3:
            arrived.set()

    server = VNCServer(10, 10, on_events=on_events)
    await server.start()
    session = await connect(VNCAddress("127.0.0.1", server.port), on_change=Changes())
    events = [KeyEvent(0xFF51, True), PointerEvent(3, 4, 1), KeyEvent(0xFF51, False)]
    session.send(events[:2])
    session.send(events[2:])
    await asyncio.wait_for(arrived.wait(), 5)
    assert received == events
    await session.close()
    session.send(events)
    await server.close()


async def test_a_wrong_password_is_an_auth_error(server):
    with pytest.raises(AuthError):
        await connect(VNCAddress("127.0.0.1", server.port, "wrong"), on_change=Changes())


async def test_refresh_comes_true_on_our_server(server):
    changes = Changes()
    session = await connect(VNCAddress("127.0.0.1", server.port, "pass wor"), on_change=changes)
    for value in range(1, 30):
        server.present(np.full((30, 40, 3), value, np.uint8))
        wanted = session.refresh()
        await changes.until(lambda wanted=wanted: session.generation >= wanted)
        assert (taken(session) == value).all()
    await session.close()


# -- real Xvnc


@pytest.fixture
async def xvnc() -> AsyncIterator[int]:
    """TigerVNC's server on a free display and port."""
    with_port = await asyncio.start_server(lambda reader, writer: None, "127.0.0.1", 0)
    port = with_port.sockets[0].getsockname()[1]
    with_port.close()
    process = await asyncio.create_subprocess_exec(
        "Xvnc", "-displayfd", "1", "-rfbport", str(port), "-localhost", "-SecurityTypes", "None", "-geometry",
        "320x200", "-depth", "24", "-UseBlacklist=0", "-AlwaysShared",
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    assert process.stdout
    display = await asyncio.wait_for(process.stdout.readline(), 20)
    assert display.strip().isdigit()
    yield port
    process.kill()
    await process.wait()


async def test_real_xvnc_is_seen_whole_and_answers_a_refresh(xvnc):
    changes = Changes()
    session = await connect(VNCAddress("127.0.0.1", xvnc), on_change=changes)
    assert session.shape == (200, 320, 3)
    for _ in range(3):
        wanted = session.refresh()
        await changes.until(lambda wanted=wanted: session.generation >= wanted)
    assert session.stats.pixels >= 320 * 200
    assert session.error is None
    await session.close()


async def test_idle_xvnc_is_silent_and_not_lost(xvnc):
    changes = Changes()
    quick = Timeouts(probe_interval=0.05, probe_deadline=2.0)
    session = await connect(VNCAddress("127.0.0.1", xvnc), on_change=changes, timeouts=quick)
    seen = session.frames
    await changes.until(lambda: session.frames >= seen + 4)  # only probes make an idle screen speak
    assert session.error is None
    await session.close()


# -- messages


async def test_bell_cut_text_and_colour_map_are_passed_over():
    """asyncvnc reads Bell and ServerCutText as each other, and knows no SetColourMapEntries."""

    async def talk(peer: Peer) -> None:
        await peer.request()
        peer.write(b"\x02")
        peer.write(struct.pack(">BxxxI", 3, 5) + b"hello")
        peer.write(b"\x02\x02")
        peer.write(struct.pack(">BxHH", 1, 0, 3) + bytes(18))
        peer.write(struct.pack(">BxxxI", 3, 0))
        peer.update(raw(42))
        await peer.request()
        await peer.reader.read()

    async with session_with(talk) as (session, changes):
        await changes.until(lambda: session.frames == 1)
        assert (taken(session) == 42).all()
        assert session.error is None


async def test_an_update_of_no_rects_is_no_frame_and_the_next_is_asked_for():
    async def talk(peer: Peer) -> None:
        for _ in range(3):
            await peer.request()
            peer.update()
        await peer.request()
        peer.update(raw(9))
        await peer.reader.read()

    async with session_with(talk) as (session, changes):
        await changes.until(lambda: session.frames == 1)
        assert (taken(session) == 9).all()
        assert session.stats.updates == 1


async def test_rects_of_raw_and_zlib_on_one_stream():
    deflate = zlib.compressobj()

    def zlib_rect(value: int, x: int, width: int) -> bytes:
        data = deflate.compress(bytes([value, value, value, 0]) * (width * HEIGHT))
        data += deflate.flush(zlib.Z_SYNC_FLUSH)
        return header(x, 0, width, HEIGHT, 6) + struct.pack(">I", len(data)) + data

    async def talk(peer: Peer) -> None:
        await peer.request()
        peer.update(zlib_rect(7, 0, 4), zlib_rect(8, 4, 4), raw(5, 1, 1, 1, 1))
        await peer.request()
        peer.update(zlib_rect(9, 0, 8))
        await peer.reader.read()

    async with session_with(talk) as (session, changes):
        await changes.until(lambda: session.frames == 2)
        assert (taken(session) == 9).all()
        assert session.stats.rectangles == 4
        assert session.stats.pixels == 2 * WIDTH * HEIGHT + 1


@pytest.mark.parametrize("pieces", [1, 2, 7, 1448])
async def test_bytes_may_come_in_any_pieces(pieces):
    """F11."""

    async def talk(peer: Peer) -> None:
        await peer.request()
        data = update(raw(3, 0, 0, 5, HEIGHT), raw(4, 5, 0, 3, HEIGHT)) + b"\x02"
        for at in range(0, len(data), pieces):
            peer.write(data[at : at + pieces])
            await peer.writer.drain()
        await peer.reader.read()

    async with session_with(talk) as (session, changes):
        await changes.until(lambda: session.frames == 1)
        assert (taken(session)[:, :5] == 3).all()
        assert (taken(session)[:, 5:] == 4).all()


async def test_a_frame_is_shown_whole_or_not_at_all():
    go_on = asyncio.Event()

    async def talk(peer: Peer) -> None:
        await peer.request()
        peer.update(raw(1))
        await peer.request()
        data = update(raw(2, 0, 0, WIDTH, 3), raw(2, 0, 3, WIDTH, 3))
        peer.write(data[: len(data) - 4])
        await go_on.wait()
        peer.write(data[len(data) - 4 :])
        await peer.reader.read()

    async with session_with(talk) as (session, changes):
        await changes.until(lambda: session.stats.rectangles >= 2)
        assert (taken(session) == 1).all()
        go_on.set()
        await changes.until(lambda: session.frames == 2)
        assert (taken(session) == 2).all()


async def test_take_into_another_shape_is_refused():
    async def talk(peer: Peer) -> None:
        await peer.reader.read()

    async with session_with(talk) as (session, _):
        with pytest.raises(ValueError, match="shape"):
            session.take(np.zeros((1, 2, 3), np.uint8))


# -- hostile servers (F15): each names the rect and the encoding


@pytest.mark.parametrize(
    ("data", "kind", "words"),
    [
        (update(header(7, 0, 2, 1)), ProtocolError, r"rect 0 \(7, 0, 2x1, encoding 0\) is outside the 8x6"),
        (update(header(0, 0, 65535, 65535)), ProtocolError, "65535x65535, encoding 0"),
        (update(header(65535, 65535, 65535, 65535)), ProtocolError, "is outside"),
        (update(header(0, 6, 1, 1)), ProtocolError, "is outside"),
        (update(raw(1), header(0, 0, 1, 7)), ProtocolError, "rect 1"),
        (update(header(0, 0, 8, 6, 16)), ProtocolError, "encoding 16.* was not asked for"),
        (update(header(0, 0, 8, 6, -239)), ProtocolError, "encoding -239.* was not asked for"),
        (update(header(0, 0, 8, 6, 6) + b"\xff" * 4), LimitExceeded, "encoding 6.*4294967295 bytes"),
        (update(header(0, 0, 8, 6, 6) + struct.pack(">I", 3) + b"abc"), ProtocolError, "does not decode"),
        (struct.pack(">BxxxI", 3, 0xFFFFFFFF), LimitExceeded, "cut text of 4294967295 bytes"),
        (struct.pack(">BxxxI", 3, 0x80000000), LimitExceeded, "cut text"),
        (b"\x63", ProtocolError, "unknown message type 99"),
        (b"\x04", ProtocolError, "unknown message type 4"),
    ],
)
async def test_hostile_messages_end_the_session_with_a_typed_error(data, kind, words):
    error = await error_after(data)
    assert type(error) is kind
    assert re.search(words, str(error)), error


async def test_a_zlib_bomb_is_not_inflated():
    bomb = zlib.compress(bytes(60_000_000), 9)
    bomb = bomb[: 64 * 1024]
    error = await error_after(update(header(0, 0, 8, 6, 6) + struct.pack(">I", len(bomb)) + bomb))
    assert type(error) is ProtocolError
    assert "encoding 6" in str(error)


async def test_too_few_inflated_bytes_are_refused():
    data = zlib.compress(bytes(100))
    error = await error_after(update(header(0, 0, 8, 6, 6) + struct.pack(">I", len(data)) + data))
    assert type(error) is ProtocolError


@pytest.mark.parametrize("seed", range(150))
async def test_a_flipped_byte_never_crashes_or_hangs(seed):
    """F13."""
    rng = np.random.default_rng(seed)
    stream = bytearray(update(raw(1, 0, 0, 4, 6), raw(2, 4, 0, 4, 6)) + b"\x02" + update(raw(3)))
    stream[rng.integers(len(stream))] ^= 1 << int(rng.integers(8))

    async def talk(peer: Peer) -> None:
        await peer.request()
        peer.write(bytes(stream))
        peer.writer.write_eof()
        await peer.reader.read()

    async with session_with(talk, QUICK) as (session, changes):
        await changes.until(lambda: session.error is not None)
        assert isinstance(session.error, ProtocolError | PeerLost)
        assert "driver failed" not in str(session.error)


# -- liveness


async def test_silence_is_answered_by_a_probe_and_a_live_server_is_kept():
    async def talk(peer: Peer) -> None:
        await peer.request()
        peer.update(raw(1))
        assert (await peer.request()).incremental
        for _ in range(3):
            probe = await peer.request()
            while probe.incremental:
                probe = await peer.request()
            assert (probe.width, probe.height) == (1, 1)
            peer.update(raw(1, 0, 0, 1, 1))
        await peer.reader.read()

    async with session_with(talk, Timeouts(probe_interval=0.05, probe_deadline=2.0)) as (session, changes):
        await changes.until(lambda: session.frames == 4)
        assert session.error is None


async def test_a_server_that_answers_no_probe_is_lost():
    async def talk(peer: Peer) -> None:
        await peer.request()
        peer.update(raw(1))
        await peer.reader.read()

    async with session_with(talk, QUICK) as (session, changes):
        await changes.until(lambda: session.error is not None)
        assert isinstance(session.error, PeerLost)
        assert "no answer to a probe within" in str(session.error)


async def test_an_update_that_does_not_end_is_lost():
    """F10: the deadline is the whole update's, however the bytes drip."""

    async def talk(peer: Peer) -> None:
        await peer.request()
        peer.write(update(header(0, 0, 8, 6)))
        while True:
            peer.write(b"\0")
            await asyncio.sleep(0.1)

    began = time.monotonic()
    timeouts = Timeouts(update=0.5, probe_interval=0.3, probe_deadline=0.3)
    async with session_with(talk, timeouts) as (session, changes):
        await changes.until(lambda: session.error is not None)
        assert isinstance(session.error, PeerLost)
        assert "unfinished after 0.5 s" in str(session.error)
        assert 0.45 < time.monotonic() - began < 3


async def test_the_end_of_the_connection_is_seen_at_once():
    async def talk(peer: Peer) -> None:
        await peer.request()

    async with session_with(talk) as (session, changes):
        await changes.until(lambda: session.error is not None)
        assert "closed the connection" in str(session.error)


async def test_a_server_that_does_not_read_is_lost():
    """F29."""

    async def talk(peer: Peer) -> None:
        peer.writer.transport.pause_reading()
        await asyncio.Event().wait()

    async with session_with(talk, limits=Limits(outgoing=64 * 1024)) as (session, changes):

        def flood() -> bool:
            session.send([KeyEvent(97, True)] * 65536)
            return session.error is not None

        await changes.until(flood)
        assert "does not read" in str(session.error)


# -- connecting


async def test_nobody_there_is_a_connect_error():
    """F8."""
    listener = await asyncio.start_server(lambda reader, writer: None, "127.0.0.1", 0)
    port = listener.sockets[0].getsockname()[1]
    listener.close()
    await listener.wait_closed()
    with pytest.raises(ConnectError, match=f"127.0.0.1:{port}: .*refused"):
        await connect(VNCAddress("127.0.0.1", port), on_change=Changes())


async def test_the_handshake_has_one_deadline_however_it_drips():
    """F9."""

    async def drip(peer: Peer) -> None:
        for byte in b"RFB 003.008\n":
            peer.write(bytes([byte]))
            await asyncio.sleep(0.15)

    began = time.monotonic()
    async with listening(drip) as port:
        with pytest.raises(ConnectError, match=r"no end of the handshake within 0\.4 s"):
            await connect(
                VNCAddress("127.0.0.1", port), on_change=Changes(), timeouts=Timeouts(handshake=0.4)
            )
    assert 0.35 < time.monotonic() - began < 2


async def test_a_server_that_hangs_up_in_the_handshake_is_a_connect_error():
    async def talk(peer: Peer) -> None:
        await peer.greet()

    async with listening(talk) as port:
        with pytest.raises(ConnectError, match="closed during the handshake"):
            await connect(VNCAddress("127.0.0.1", port), on_change=Changes())


async def test_we_join_as_a_shared_client():
    """F18."""
    shared = asyncio.get_running_loop().create_future()

    async def talk(peer: Peer) -> None:
        await peer.open()
        shared.set_result(peer.shared)

    async with listening(talk) as port:
        session = await connect(VNCAddress("127.0.0.1", port), on_change=Changes())
        assert await asyncio.wait_for(shared, 5) == 1
        await session.close()


# -- refresh: a barrier against pixels from before


async def test_an_update_that_was_under_way_does_not_satisfy_a_refresh():
    """The server draws when it reads a request, and answers one request with one update."""
    asked, drawn = asyncio.Event(), asyncio.Event()

    async def talk(peer: Peer) -> None:
        await peer.request()
        peer.update(raw(1))
        await peer.request()
        drawn.set()
        await asked.wait()
        peer.update(raw(2))  # drawn before the refresh, whole, and sent after it
        request = await peer.request()
        assert not request.incremental
        peer.update(raw(3))
        await peer.reader.read()

    async with session_with(talk) as (session, changes):
        await changes.until(lambda: session.frames == 1)
        await drawn.wait()
        wanted = session.refresh()
        asked.set()
        await changes.until(lambda: session.frames == 2)
        assert session.generation < wanted, "satisfied by the update under way"
        await changes.until(lambda: session.generation >= wanted)
        assert (taken(session) == 3).all()


async def test_a_refresh_with_a_probe_under_way_waits_for_both():
    asked, probed = asyncio.Event(), asyncio.Event()

    async def talk(peer: Peer) -> None:
        await peer.request()
        peer.update(raw(1))
        await peer.request()
        assert (await peer.request()).width == 1
        probed.set()
        await asked.wait()
        peer.update(raw(2))
        peer.update(raw(2))
        while (await peer.request()).incremental:
            pass
        peer.update(raw(3))
        await peer.reader.read()

    timeouts = Timeouts(probe_interval=0.1, probe_deadline=4.0)
    async with session_with(talk, timeouts) as (session, changes):
        await probed.wait()
        wanted = session.refresh()
        asked.set()
        await changes.until(lambda: session.frames == 3)
        assert session.generation < wanted
        await changes.until(lambda: session.generation >= wanted)
        assert (taken(session) == 3).all()


async def test_a_refresh_is_not_over_before_every_pixel_came():
    """A server may answer in parts."""

    async def talk(peer: Peer) -> None:
        await peer.request()
        peer.update(raw(1))
        while (await peer.request()).incremental:
            pass
        peer.update(raw(2))
        await peer.request()
        peer.update(raw(3, 0, 0, WIDTH, 3))
        await peer.request()
        peer.update()
        await peer.request()
        peer.update(raw(3, 0, 3, WIDTH, 3))
        await peer.reader.read()

    async with session_with(talk) as (session, changes):
        await changes.until(lambda: session.frames == 1)
        wanted = session.refresh()
        await changes.until(lambda: session.generation >= wanted)
        assert (taken(session) == 3).all()


@pytest.mark.parametrize("combine", [False, True], ids=["answers each request", "answers them together"])
async def test_refreshes_in_a_row_against_a_server_that_draws_when_it_answers(combine):
    """The picture is a number that grows with every update; no refresh may be content with an older one."""
    value = 0

    async def talk(peer: Peer) -> None:
        nonlocal value
        while True:
            await peer.request()
            while combine and peer.reader._buffer:  # type: ignore[attr-defined]
                await peer.request()
            value += 1
            peer.update(raw(value % 256))
            await peer.writer.drain()

    async with session_with(talk) as (session, changes):
        for _ in range(60):
            before = value
            wanted = session.refresh()
            await changes.until(lambda wanted=wanted: session.generation >= wanted)
            age = (int(taken(session)[0, 0, 0]) - before) % 256
            assert 0 < age < 128, f"a picture from before the refresh: {age}"


async def test_several_refreshes_at_once_are_one_in_the_end():
    async def talk(peer: Peer) -> None:
        while True:
            await peer.request()
            peer.update(raw(5))

    async with session_with(talk) as (session, changes):
        generations = [session.refresh() for _ in range(20)]
        assert generations == sorted(set(generations))
        await changes.until(lambda: session.generation >= generations[-1])


async def test_what_the_wire_carries_for_events():
    got = asyncio.get_running_loop().create_future()
    events = [KeyEvent(0x20AC, True), PointerEvent(1, 2, 3)]

    async def talk(peer: Peer) -> None:
        await peer.request()
        peer.update(raw(0))
        await peer.request()
        peer.update(raw(1))
        await peer.request()
        got.set_result(peer.input)

    async with session_with(talk) as (session, _):
        session.send(events)
        session.send([])
        session.refresh()
        assert await asyncio.wait_for(got, 5) == encode(events)
