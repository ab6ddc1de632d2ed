"""Shared frames: what clients read, and what clients that break the rules get."""

from __future__ import annotations

import asyncio
import fcntl
import mmap
import os
import socket
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.vnc.rfb_client import RFBClient
from tests.vnc.server.test_server import Inbox, frame, rgb_of
from tests.vnc.server.test_server import clients as clients
from tests.vnc.server.test_server import serve as serve
from tests.vnc.shared_client import SharedClient, ask, knock
from vnc.encodings import RAW, SHARED_FRAMES
from vnc.events import KeyEvent, encode
from vnc.server import handover
from vnc.server.framebuffer.ring import Layout
from vnc.server.handover import MAX_PENDING, Handover
from vnc.server.server import ServerLimits, VNCServer


async def ready(server: VNCServer, clients: list[RFBClient]) -> SharedClient:
    client = await SharedClient.ready_on(server.port)
    clients.append(client.vnc)
    return client


async def offered(server: VNCServer, clients: list[RFBClient]) -> SharedClient:
    client = SharedClient(await RFBClient.connect(server.port))
    clients.append(client.vnc)
    await client.offered()
    return client


def last_words(visitor: socket.socket) -> bytes:
    """What a visitor that has sent nothing is sent."""
    with visitor:
        try:
            return visitor.recv(1)
        except ConnectionResetError:
            return b""


async def answered(path: str, token: bytes) -> bool:
    """Whether the server gives its memory for a token."""
    answer, descriptors = await asyncio.to_thread(ask, path, token)
    for descriptor in descriptors:
        os.close(descriptor)
    assert bool(answer) == bool(descriptors)
    return bool(answer)


async def test_the_pixels_are_in_the_memory(serve, clients) -> None:
    server = await serve()
    client = await ready(server, clients)
    for seed in range(20):
        server.present(frame(seed))
        number = await client.held()
        assert (client.frame(number) == frame(seed)).all()
        client.release(number)


async def test_the_rects_are_those_that_changed(serve, clients) -> None:
    server = await serve()
    client = await ready(server, clients)
    server.present(shown := frame(1))
    client.release(await client.held())
    shown[20, 40] ^= 255
    server.present(shown)
    client.vnc.request(True)
    (rect,) = await client.vnc.update()
    assert (rect.x, rect.y, rect.width, rect.height, rect.encoding) == (32, 16, 16, 16, SHARED_FRAMES)
    assert (client.frame(int.from_bytes(rect.payload, "big")) == shown).all()


async def test_what_is_held_does_not_change_and_nothing_more_comes_until_it_is_released(
    serve, clients
) -> None:
    server = await serve()
    client, other = await ready(server, clients), await RFBClient.connect(server.port)
    clients.append(other)
    server.present(frame(1))
    number = await client.held()
    client.vnc.request(True)
    for seed in range(2, 30):
        server.present(frame(seed))
        other.request(True)
        assert (rgb_of((await other.update())[0].payload) == frame(seed)).all()
    server.paint([server._desktop.screen.rect], lambda pixels: pixels.fill(9))
    assert (client.frame(number) == frame(1)).all()
    client.release(number)
    (rect,) = await client.vnc.update()
    assert (client.frame(int.from_bytes(rect.payload, "big")) == 9).all()


async def test_a_frame_that_is_held_is_painted_in_a_copy(serve, clients) -> None:
    server = await serve()
    client = await ready(server, clients)
    server.present(frame(1))
    number = await client.held()
    server.paint([server._desktop.screen.rect], lambda pixels: pixels.fill(9))
    assert (client.frame(number) == frame(1)).all()


async def test_six_readers_hold_frames_and_further_ones_get_vnc(serve, clients) -> None:
    server = await serve()
    readers = [await ready(server, clients) for _ in range(8)]
    numbers = []
    for seed, reader in enumerate(readers[:6]):
        server.present(frame(seed))
        numbers.append(await reader.held())
    server.present(frame(6))
    for reader in readers[6:]:
        reader.vnc.request(False)
        (rect,) = await reader.vnc.update()
        assert rect.encoding == RAW
        assert (rgb_of(rect.payload) == frame(6)).all()
    for seed in range(7, 20):
        server.present(frame(seed))
    for seed, number in enumerate(numbers):
        assert (readers[seed].frame(number) == frame(seed)).all()
    readers[0].release(numbers[0])
    readers[0].release(await readers[0].held())
    assert (readers[7].frame(await readers[7].held()) == frame(19)).all()


async def test_any_number_of_readers_holds_the_same_frame(serve, clients) -> None:
    server = await serve()
    server.present(frame(1))
    readers = [await ready(server, clients) for _ in range(9)]
    assert len({await reader.held() for reader in readers}) == 1


async def leave(client: SharedClient, inbox: Inbox) -> None:
    """Disconnect, and wait until the server has noticed."""
    inbox.events.clear()
    client.vnc.writer.write(encode([KeyEvent(97, True)]))
    await inbox.until(KeyEvent(97, True))
    client.vnc.writer.transport.abort()
    await inbox.until(KeyEvent(97, False))


async def test_a_client_that_leaves_releases_its_frame(serve, clients) -> None:
    server = await serve(on_events=(inbox := Inbox()))
    for seed in range(10):
        server.present(frame(seed))
        client = await ready(server, clients)
        await client.held()
        await leave(client, inbox)
    assert not any(server._desktop.screen.ring._holds)


async def test_the_offer_comes_once_and_only_to_those_who_ask(serve, clients, monkeypatch) -> None:
    server = await serve()
    plain = await RFBClient.connect(server.port)
    clients.append(plain)
    plain.set_encodings(RAW)
    assert await plain.silent()
    client = await offered(server, clients)
    client.vnc.set_encodings(SHARED_FRAMES, RAW)
    assert await client.vnc.silent()
    monkeypatch.setattr("vnc.server.client.is_this_host", lambda address: False)
    plain.set_encodings(SHARED_FRAMES, RAW)
    assert await plain.silent(), "a client on another host cannot use it"


async def test_over_tls_nothing_is_shared(identity) -> None:
    server = VNCServer(10, 10)
    await server.start(tls=identity.context())
    assert server._desktop.handover is None
    await server.close()


async def test_without_such_memory_there_is_vnc(serve, clients, monkeypatch, caplog) -> None:
    monkeypatch.delattr(os, "memfd_create")  # as on a system other than Linux
    caplog.set_level("INFO")
    server = await serve()
    assert "no shared frames: [Errno 38] only Linux has sealed memory" in caplog.text
    clients.append(client := await RFBClient.connect(server.port))
    client.set_encodings(SHARED_FRAMES, RAW)
    server.present(frame(1))
    client.request(False)
    assert (rgb_of((await client.update())[0].payload) == frame(1)).all()


async def test_readers_can_neither_write_nor_resize(serve, clients) -> None:
    server = await serve()
    client = await offered(server, clients)
    header, descriptor = await client.fetch()
    client.map(header, os.dup(descriptor))
    size = os.fstat(descriptor).st_size
    assert len(client.memory) == size
    again = os.open(f"/proc/self/fd/{descriptor}", os.O_RDWR)
    for writable in (descriptor, again):
        for attempt in (
            lambda fd: mmap.mmap(fd, size),
            lambda fd: os.pwrite(fd, b"x", 100),
            lambda fd: os.ftruncate(fd, size - 1),
            lambda fd: os.ftruncate(fd, size + 1),
            lambda fd: fcntl.fcntl(fd, fcntl.F_ADD_SEALS, fcntl.F_SEAL_WRITE),
        ):
            with pytest.raises(PermissionError):
                attempt(writable)
        os.close(writable)


async def test_a_token_is_valid_once(serve, clients) -> None:
    server = await serve()
    client = await offered(server, clients)
    assert not await answered(client.path, bytes(16))
    assert await answered(client.path, client.token)
    assert not await answered(client.path, client.token)


async def test_a_token_ends_with_its_connection(serve, clients) -> None:
    server = await serve(on_events=(inbox := Inbox()))
    client = await offered(server, clients)
    await leave(client, inbox)
    assert not await answered(client.path, client.token)


async def test_another_user_gets_nothing() -> None:
    layout = Layout(10, 10, 8)
    stranger = Handover(os.open("/dev/null", os.O_RDONLY), layout, frozenset({os.geteuid() + 1}))
    stranger.start()
    token = stranger.expect(lambda: pytest.fail("the token was used"))
    assert not await answered(stranger.path, token)
    stranger.close()


async def test_connections_that_say_nothing_are_few_and_short(serve, clients, monkeypatch) -> None:
    monkeypatch.setattr(handover, "PATIENCE", 1.0)
    server = await serve()
    client = await offered(server, clients)
    silent = [await asyncio.to_thread(knock, client.path) for _ in range(MAX_PENDING + 3)]
    for visitor in silent:
        assert await asyncio.to_thread(last_words, visitor) == b""
    assert not server._desktop.handover._visitors
    assert await answered(client.path, client.token)


class Exhausted:
    """A listening socket for whose connections there is no descriptor at first."""

    def __init__(self, listener: socket.socket) -> None:
        self._listener = listener
        self.failures = 0
        self.fileno, self.close = listener.fileno, listener.close

    def accept(self) -> tuple[socket.socket, object]:
        self.failures += 1
        if self.failures == 1:
            raise OSError(24, "Too many open files")
        return self._listener.accept()


async def test_a_lack_of_descriptors_is_survived(serve, clients, monkeypatch, caplog) -> None:
    monkeypatch.setattr(handover, "PAUSE", 0.1)
    server = await serve()
    client = await offered(server, clients)
    way = server._desktop.handover
    way._listener = exhausted = Exhausted(way._listener)
    assert await answered(client.path, client.token)
    assert exhausted.failures == 2
    assert caplog.text.count("not handed out: [Errno 24]") == 1


@pytest.mark.parametrize(
    ("act", "reason"),
    [
        (lambda client: client.ready(), "did not fetch"),
        (lambda client: client.say(2), "unknown verb 2"),
        (lambda client: client.say(255, 2**32 - 1), "unknown verb 255"),
        (lambda client: client.release(0), "releases buffer 0 and holds none"),
        (lambda client: client.release(2**32 - 1), "releases buffer 4294967295 and holds none"),
    ],
)
async def test_who_breaks_the_rules_before_it_is_ready_is_dropped(
    serve, clients, caplog, act: Callable[[SharedClient], object], reason: str
) -> None:
    server = await serve()
    for client in (SharedClient(await RFBClient.connect(server.port)), await offered(server, clients)):
        clients.append(client.vnc)
        act(client)
        assert await client.vnc.ended()
    assert caplog.text.count(reason) == 2


@pytest.mark.parametrize(
    ("act", "reason"),
    [
        (lambda client, held, other: client.ready(), "is so again"),
        (lambda client, held, other: client.release(other), "and holds buffer"),
        (lambda client, held, other: [client.release(held), client.release(held)], "and holds none"),
    ],
)
async def test_who_breaks_the_rules_later_is_dropped_alone(
    serve, clients, caplog, act: Callable[[SharedClient, int, int], object], reason: str
) -> None:
    server = await serve()
    client, other = await ready(server, clients), await ready(server, clients)
    server.present(frame(1))
    others = await other.held()
    server.present(frame(2))
    act(client, await client.held(), others)
    assert await client.vnc.ended()
    assert reason in caplog.text
    for seed in range(3, 20):
        server.present(frame(seed))
    assert (other.frame(others) == frame(1)).all()
    other.release(others)
    assert (other.frame(await other.held()) == frame(19)).all()


async def test_who_never_releases_is_dropped_after_the_stall(serve, clients, caplog) -> None:
    server = await serve(limits=ServerLimits(stall=0.5))
    client, other = await ready(server, clients), await ready(server, clients)
    server.present(frame(1))
    await client.held()
    other.release(await other.held())
    assert await client.vnc.ended()
    assert caplog.text.count("did not release a shared frame in 0.5 s") == 1
    server.present(frame(2))
    assert (other.frame(await other.held()) == frame(2)).all()


async def test_nothing_remains(tmp_path: Path, monkeypatch) -> None:
    folder = tmp_path / ("long" * 50)
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    before = len(os.listdir("/proc/self/fd"))
    server = VNCServer(10, 10)
    await server.start()
    assert server._desktop.handover is not None
    assert list(folder.iterdir()) == [], "a crash would leave no file either"
    client = await SharedClient.ready_on(server.port)
    visitor = await asyncio.to_thread(knock, client.path)
    assert not await answered(client.path, bytes(16)), "so the visitor has been accepted too"
    await server.close()
    assert await client.vnc.ended()
    client.vnc.writer.transport.abort()
    assert await asyncio.to_thread(last_words, visitor) == b""
    with pytest.raises(OSError), socket.socket(socket.AF_UNIX) as late:
        late.connect(client.path)
    assert len(os.listdir("/proc/self/fd")) <= before + 2, "the two mappings have one each"
    assert np.count_nonzero(client.frame(0)) == 0, "what a client has mapped stays"
