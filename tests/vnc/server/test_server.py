"""The server over real sockets, with a client that exposes every byte."""

from __future__ import annotations

import asyncio
import logging
import socket
import struct
from collections.abc import AsyncIterator, Callable, Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.vnc.rfb_client import Refused, RFBClient, ZRLEDecoder
from vnc.events import Event, KeyEvent, PointerEvent, encode
from vnc.pixels.pixel_format import BGR233, RGBX, PixelFormat, convert
from vnc.server.server import ServerLimits, VNCServer

WIDTH, HEIGHT = 100, 70
QUICK = ServerLimits(failure_delay=0.01)


@pytest.fixture
async def clients() -> AsyncIterator[list[RFBClient]]:
    """Clients that are disconnected after the test."""
    opened: list[RFBClient] = []
    yield opened
    for client in opened:
        client.writer.transport.abort()


@pytest.fixture
async def serve() -> AsyncIterator[Callable[..., object]]:
    """Start a server with these options; close it after the test."""
    started: list[VNCServer] = []

    async def start(width: int = WIDTH, height: int = HEIGHT, **options: object) -> VNCServer:
        options.setdefault("limits", QUICK)
        server = VNCServer(width, height, **options)
        await server.start()
        started.append(server)
        return server

    yield start
    for server in started:
        await server.close()


def frame(seed: int) -> NDArray[np.uint8]:
    return np.random.default_rng(seed).integers(0, 256, (HEIGHT, WIDTH, 3), dtype=np.uint8)


def rgb_of(payload: bytes, width: int = WIDTH, height: int = HEIGHT) -> NDArray[np.uint8]:
    return np.frombuffer(payload, np.uint8).reshape(height, width, 4)[..., :3]


class Inbox:
    """Collects events; `until` waits for the last one expected."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self._arrived = asyncio.Event()

    def __call__(self, events: Sequence[Event]) -> None:
        self.events += events
        self._arrived.set()

    async def until(self, event: Event) -> list[Event]:
        async with asyncio.timeout(60):
            while event not in self.events:
                self._arrived.clear()
                await self._arrived.wait()
        return self.events


async def test_the_whole_screen_then_only_what_changed(serve, clients) -> None:
    server = await serve(name="a désktop")
    shown = frame(1)
    server.present(shown)
    clients.append(client := await RFBClient.connect(server.port))
    assert (client.width, client.height, client.name.decode()) == (WIDTH, HEIGHT, "a désktop")
    assert PixelFormat.parse(client.server_format) == RGBX
    client.request(False)
    (whole,) = await client.update()
    assert (rgb_of(whole.payload) == shown).all()
    client.request(True)
    assert await client.silent(), "an incremental request without damage stays pending"
    client.request(True)
    shown[20, 40] ^= 255
    server.present(shown)
    (part,) = await client.update()
    assert (part.x, part.y, part.width, part.height) == (32, 16, 16, 16)
    assert (rgb_of(part.payload, 16, 16) == shown[16:32, 32:48]).all()


async def test_damage_waits_for_a_request_and_the_latest_frame_wins(serve, clients) -> None:
    server = await serve()
    clients.append(client := await RFBClient.connect(server.port))
    client.request(False)
    await client.update()
    for seed in range(5):
        server.present(frame(seed))
    client.request(True)
    (whole,) = await client.update()
    assert (rgb_of(whole.payload) == frame(4)).all()
    client.request(True)
    assert await client.silent()


async def test_a_change_that_is_taken_back_is_sent_as_it_is_now(serve, clients) -> None:
    server = await serve()
    clients.append(client := await RFBClient.connect(server.port))
    client.request(False)
    await client.update()
    server.present(frame(1))
    server.present(np.zeros((HEIGHT, WIDTH, 3), np.uint8))
    client.request(True)
    (whole,) = await client.update()
    assert not rgb_of(whole.payload).any()


async def test_requests_outside_the_screen_are_clipped_or_ignored(serve, clients) -> None:
    server = await serve()
    clients.append(client := await RFBClient.connect(server.port))
    client.request(False, (WIDTH, HEIGHT, 10, 10))
    client.request(False, (5, 5, 0, 9))
    client.request(False, (WIDTH - 10, HEIGHT - 5, 65535, 65535))
    (corner,) = await client.update()
    assert (corner.x, corner.y, corner.width, corner.height) == (WIDTH - 10, HEIGHT - 5, 10, 5)


async def test_clients_have_their_own_formats_encodings_and_damage(serve, clients) -> None:
    server = await serve()
    server.present(frame(1))
    clients += [await RFBClient.connect(server.port) for _ in range(3)]
    plain, zrle, small = clients
    assert server.clients == 3
    zrle.set_encodings(1, 16, 0)
    small.set_format(BGR233.encode())
    decoder = ZRLEDecoder(3)
    for seed in (1, 2, 3):
        server.present(frame(seed))
        for client in clients:
            client.request(False)
        assert (rgb_of((await plain.update())[0].payload) == frame(seed)).all()
        rows = decoder.decode((await zrle.update())[0].payload, WIDTH, HEIGHT)
        assert b"".join(pixel for row in rows for pixel in row) == frame(seed).tobytes()
        assert (await small.update())[0].payload == convert(frame(seed), BGR233).tobytes()
    server.present(frame(4))
    plain.request(True)
    await plain.update()
    small.request(True)
    (whole,) = await small.update()
    assert whole.payload == convert(frame(4), BGR233).tobytes()


async def test_a_colour_map_client_gets_the_map_first(serve, clients) -> None:
    server = await serve()
    server.present(frame(1))
    clients.append(client := await RFBClient.connect(server.port))
    client.set_format(struct.pack(">BBBBHHHBBB3x", 8, 8, 0, 0, 0, 0, 0, 0, 0, 0))
    client.request(False)
    assert await client.read(6) == struct.pack(">BxHH", 1, 0, 256)
    colours = np.frombuffer(await client.read(256 * 6), ">u2").reshape(256, 3) >> 8
    (whole,) = await client.update()
    seen = colours[np.frombuffer(whole.payload, np.uint8)].reshape(HEIGHT, WIDTH, 3)
    assert np.abs(seen.astype(int) - frame(1)).max() <= 43, "half a step of the two-bit blue"


@pytest.mark.parametrize("version", [b"RFB 003.003\n", b"RFB 003.007\n", b"RFB 003.008\n", b"RFB 003.889\n"])
@pytest.mark.parametrize("password", [None, "drive"])
async def test_every_version_gets_pixels(serve, clients, version: bytes, password: str | None) -> None:
    server = await serve(password=password)
    server.present(frame(1))
    clients.append(client := await RFBClient.connect(server.port, password, version))
    client.request(False)
    (whole,) = await client.update()
    assert (rgb_of(whole.payload) == frame(1)).all()


async def test_input_arrives_in_order_clamped(serve, clients) -> None:
    inbox = Inbox()
    server = await serve(on_events=inbox)
    clients.append(client := await RFBClient.connect(server.port))
    last = PointerEvent(WIDTH - 1, HEIGHT - 1, 0)
    client.writer.write(encode([KeyEvent(97, True), PointerEvent(3, 4, 1), KeyEvent(97, False)]))
    client.writer.write(encode([PointerEvent(40000, 40000, 0)]))
    expected = [KeyEvent(97, True), PointerEvent(3, 4, 1), KeyEvent(97, False), last]
    assert await inbox.until(last) == expected


async def test_what_a_vanished_client_held_is_released(serve, clients) -> None:
    inbox = Inbox()
    server = await serve(on_events=inbox)
    clients.append(client := await RFBClient.connect(server.port))
    client.writer.write(encode([KeyEvent(97, True), PointerEvent(3, 4, 1)]))
    await inbox.until(PointerEvent(3, 4, 1))
    client.writer.transport.abort()
    assert (await inbox.until(PointerEvent(3, 4, 0)))[2:] == [KeyEvent(97, False), PointerEvent(3, 4, 0)]
    assert server.clients == 0


@pytest.mark.parametrize(
    "options", [{"view_only": True}, {"password": "drive", "view_only_password": "watch"}]
)
async def test_who_only_watches_cannot_touch(serve, clients, options: dict[str, object]) -> None:
    inbox = Inbox()
    server = await serve(on_events=inbox, **options)
    clients.append(watcher := await RFBClient.connect(server.port, "watch"))
    watcher.writer.write(encode([KeyEvent(97, True), PointerEvent(3, 4, 1)]))
    watcher.request(False)
    assert len(await watcher.update()) == 1
    assert inbox.events == []
    watcher.writer.transport.abort()
    if "password" in options:
        clients.append(driver := await RFBClient.connect(server.port, "drive"))
        driver.writer.write(encode([KeyEvent(98, True)]))
        assert await inbox.until(KeyEvent(98, True)) == [KeyEvent(98, True)]


async def test_a_wrong_password_is_answered_late_and_logged_without_it(serve, caplog) -> None:
    server = await serve(password="drive", limits=ServerLimits(failure_delay=0.15))
    started = asyncio.get_running_loop().time()
    with caplog.at_level(logging.DEBUG), pytest.raises(Refused, match=r"^authentication failed$"):
        await RFBClient.connect(server.port, "canary")
    assert asyncio.get_running_loop().time() - started >= 0.15
    assert "authentication failed" in caplog.text
    assert "canary" not in caplog.text and "drive" not in caplog.text
    assert server.clients == 0


async def test_a_guesser_in_parallel_is_turned_away(serve, clients) -> None:
    server = await serve(password="drive", limits=ServerLimits(failure_delay=0.5))
    guesses = [asyncio.create_task(RFBClient.connect(server.port, "wrong")) for _ in range(8)]
    with pytest.raises(Refused, match="too many authentication failures"):
        async with asyncio.timeout(60):
            while True:  # let in until all eight guesses have been made
                clients.append(await RFBClient.connect(server.port, "drive"))
    await server.close()
    outcomes = await asyncio.gather(*guesses, return_exceptions=True)
    assert {type(outcome) for outcome in outcomes} <= {asyncio.IncompleteReadError, ConnectionResetError}


async def test_none_is_refused_when_a_password_is_required(serve, clients) -> None:
    server = await serve(password="drive")
    clients.append(client := await RFBClient.open(server.port))
    client.writer.write(b"RFB 003.008\n\1\1")
    assert await client.read(12 + 2) == b"RFB 003.008\n\1\2"
    assert await client.integer(4) == 1
    assert await client.text() == b"security type not offered"
    assert await client.ended()


HOSTILE = {
    "http": (False, b"GET / HTTP/1.1\r\n\r\n"),
    "unknown message": (True, b"\x99"),
    "encodings": (True, struct.pack(">BxH", 2, 65535)),
    "clipboard": (True, struct.pack(">B3xI", 6, 2**32 - 1)),
    "pixel format": (True, bytes(20)),
}


@pytest.mark.parametrize(("established", "data"), HOSTILE.values(), ids=HOSTILE)
async def test_hostile_bytes_end_that_client_only(
    serve, clients, caplog, established: bool, data: bytes
) -> None:
    server = await serve()
    clients.append(good := await RFBClient.connect(server.port))
    clients.append(bad := await (RFBClient.connect if established else RFBClient.open)(server.port))
    with caplog.at_level(logging.WARNING, "vnc.server.server"):
        bad.writer.write(data)
        assert await bad.ended()
    assert " ! " in caplog.text
    good.request(False)
    assert len(await good.update()) == 1
    assert server.clients == 1


async def test_a_handshake_has_a_deadline_as_a_whole(serve, clients, caplog) -> None:
    server = await serve(limits=ServerLimits(handshake=0.3))
    clients.append(client := await RFBClient.open(server.port))
    finished = asyncio.create_task(client.ended())
    for byte in b"RFB 003.00":
        client.writer.write(bytes([byte]))
        await asyncio.wait([finished], timeout=0.02)
    assert await finished
    assert "handshake took too long" in caplog.text


async def test_an_established_client_has_no_deadline(serve, clients) -> None:
    server = await serve(limits=ServerLimits(handshake=0.1))
    clients.append(client := await RFBClient.connect(server.port))
    client.request(False)
    await client.update()
    clients.append(late := await RFBClient.open(server.port))
    assert await late.ended(), "by now the first one's deadline has passed too"
    assert await client.silent()


async def test_connections_are_bounded(serve, clients) -> None:
    server = await serve(limits=ServerLimits(connections=2))
    clients += [await RFBClient.connect(server.port), await RFBClient.open(server.port)]
    clients.append(third := await RFBClient.open(server.port))
    assert await third.ended()
    assert server.clients == 1


async def test_a_client_that_does_not_read_holds_one_update(serve, clients) -> None:
    width, height = 1600, 1000  # an update of 6 MB is more than the kernel's buffers take
    server = await serve(width, height)
    clients.append(slow := await RFBClient.connect(server.port))
    (connection,) = server._desktop.connections
    clients.append(quick := await RFBClient.connect(server.port))
    shown = np.zeros((height, width, 3), np.uint8)
    slow.writer.transport.pause_reading()
    slow.request(False)
    for step in range(1, 20):
        shown[:] = step
        server.present(shown)
        quick.request(False)
        assert (rgb_of((await quick.update())[0].payload, width, height) == step).all()
        slow.request(True)
        assert connection._transport.get_write_buffer_size() < width * height * 4
    assert not connection._writable
    slow.writer.transport.resume_reading()
    first, last = await slow.update(), await slow.update()
    assert rgb_of(first[0].payload, width, height).max() <= 1
    assert (rgb_of(last[0].payload, width, height) == 19).all(), "the frames in between were never queued"


async def test_a_dear_encoding_rests_and_still_ends_with_the_latest_frame(serve, clients) -> None:
    width, height = 640, 480
    server = await serve(width, height)
    clients.append(client := await RFBClient.connect(server.port))
    client.set_encodings(16)
    rng = np.random.default_rng(7)
    noise = [rng.integers(0, 256, (height, width, 3), dtype=np.uint8) for _ in range(3)]
    server.present(noise[0])
    client.request(False)
    decoder = ZRLEDecoder(3)
    decoder.decode((await client.update())[0].payload, width, height)
    (connection,) = server._desktop.connections
    client.request(True)
    server.present(noise[1])
    assert connection._resting is not None, "ten milliseconds of noise are followed by a pause"
    server.present(noise[2])
    rows = decoder.decode((await client.update())[0].payload, width, height)
    assert b"".join(pixel for row in rows for pixel in row) == noise[2].tobytes()


async def test_closing_hangs_up_and_frees_the_port(serve, clients) -> None:
    server = await serve()
    clients.append(client := await RFBClient.connect(server.port))
    await server.close()
    await server.close()
    assert await client.ended()
    assert server.clients == 0
    with pytest.raises(ConnectionRefusedError):
        await RFBClient.open(server.port)


async def test_it_listens_on_loopback_without_delays(serve, clients) -> None:
    server = await serve()
    clients.append(await RFBClient.connect(server.port))
    (connection,) = server._desktop.connections
    sock = connection._transport.get_extra_info("socket")
    assert sock.getsockname()[0] == "127.0.0.1"
    assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


async def test_misuse_is_named(serve) -> None:
    server = await serve()
    with pytest.raises(RuntimeError, match="already listening"):
        await server.start()
    with pytest.raises(ValueError, match="a frame of this screen"):
        server.present(np.zeros((HEIGHT + 1, WIDTH, 3), np.uint8))
    with pytest.raises(ValueError, match="not 0x10"):
        VNCServer(0, 10)
    with pytest.raises(ValueError, match="at most 1024 bytes"):
        VNCServer(10, 10, name="x" * 1025)
