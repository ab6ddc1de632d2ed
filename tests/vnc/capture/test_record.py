"""Recording of our server and of Xvnc, as a client and as a proxy."""

from __future__ import annotations

import asyncio
import struct
from pathlib import Path

import numpy as np
import pytest

from tests.support.vnc import captures
from tests.support.vnc.captures import (
    EMPTY_UPDATE,
    HEIGHT,
    ONE_PIXEL,
    PASSWORD,
    SECRET_KEY,
    WIDTH,
    PressedServer,
    Watcher,
    address_of,
    content_and_mode,
    picture,
    plain,
    replaying,
    session_through_recorder,
)
from tests.support.vnc.rfb import Peer, listening
from tests.support.vnc.xvnc import logo
from vnc.capture.capture import CaptureWriter, read_capture
from vnc.capture.record import Recorder, RecordOptions, record
from vnc.client.portable import connect
from vnc.errors import AuthError, ConnectError, PeerLost, ProtocolError
from vnc.pixels.pixel_format import BGR233, RGBX
from vnc.server.server import VNCServer
from vnc.session import VNCAddress
from vnc.tls import TLS
from vnc.vncauth import obfuscated

path, server, xvnc = captures.path, captures.server, captures.xvnc  # fixtures


async def test_a_recorded_session_replays_to_the_same_pixels(server: PressedServer, path: Path) -> None:
    await session_through_recorder(server, path)
    capture = read_capture(path)
    assert (capture.header.width, capture.header.height, capture.header.name) == (WIDTH, HEIGHT, "a screen")
    assert capture.pixel_format == RGBX
    assert not capture.truncated
    count = len(capture.updates)
    assert count >= 4
    async with replaying(capture) as replay:
        for _ in range(2):  # one client after the other
            async with Watcher.open(replay.port) as watcher:
                await watcher.until(lambda: watcher.session.frames == count)
                assert np.array_equal(watcher.frame, picture(3))


async def test_a_server_over_tls_is_recorded(path: Path, authority, identity) -> None:
    server = VNCServer(WIDTH, HEIGHT, password=PASSWORD)
    await server.start(tls=identity.context())
    server.present(picture(3))
    where = VNCAddress("127.0.0.1", server.port, PASSWORD, tls=TLS(ca_file=authority.certificate))
    await record(where, path, seconds=10, encodings=(0,), max_updates=1)
    await server.close()
    async with replaying(read_capture(path)) as replay, Watcher.open(replay.port) as watcher:
        await watcher.until(lambda: watcher.session.frames == 1)
        assert np.array_equal(watcher.frame, picture(3))


async def test_the_key_presses_of_a_recorded_client_reach_the_server(
    server: PressedServer, path: Path
) -> None:
    assert await session_through_recorder(server, path) == list(SECRET_KEY)


async def test_nothing_secret_is_in_the_file(server: PressedServer, path: Path) -> None:
    await session_through_recorder(server, path)
    content, mode = content_and_mode(path)
    for secret in (PASSWORD.encode(), obfuscated(PASSWORD), struct.pack(">I", 0x736563), b"RFB 003"):
        assert secret not in content
    assert mode == 0o600


async def test_the_servers_clipboard_is_not_in_the_file(path: Path) -> None:
    async def talk(peer: Peer) -> None:
        await peer.open(WIDTH, HEIGHT)
        await peer.request()
        peer.write(b"\3\0\0\0" + struct.pack(">I", 6) + b"secret" + EMPTY_UPDATE)
        await peer.reader.read()

    async with listening(talk) as port:
        file = await record(VNCAddress("127.0.0.1", port), path, seconds=10, max_updates=1)
    assert file.updates == 1
    assert b"secret" not in content_and_mode(path)[0]


@pytest.mark.parametrize("encodings", [(0,), (7, 0), (16, 0)], ids=["raw", "tight", "zrle"])
async def test_record_asks_for_updates_itself(
    server: PressedServer, path: Path, encodings: tuple[int, ...]
) -> None:
    seen = 0

    def show_another(file: CaptureWriter) -> None:
        nonlocal seen
        if file.updates > seen:
            seen = file.updates
            server.present(picture(seen))

    file = await record(
        address_of(server), path, seconds=10, encodings=encodings, max_updates=4, on_progress=show_another
    )
    capture = read_capture(path)
    assert file.updates == len(capture.updates) == 4
    assert capture.uses == {encodings[0]}
    assert capture.encodings == encodings
    times = [message.time for message in capture.messages]
    assert times == sorted(times)
    assert len(capture.requests) == 5


async def test_recording_ends_after_its_seconds(server: PressedServer, path: Path) -> None:
    file = await record(address_of(server), path, seconds=0.2)
    assert (file.updates, file.full) == (1, False)


async def test_a_capture_is_bounded(server: PressedServer, path: Path) -> None:
    most = WIDTH * HEIGHT * 4 + 2000  # one whole screen and no second
    server.present(picture(1))
    file = await record(
        address_of(server),
        path,
        seconds=10,
        encodings=(0,),
        options=RecordOptions(max_bytes=most),
        on_progress=lambda file: server.present(picture(file.updates + 5)),
    )
    assert file.full
    assert len(content_and_mode(path)[0]) == file.bytes <= most
    assert len(read_capture(path).updates) == file.updates == 1


async def test_a_full_capture_ends_the_session_it_records(server: PressedServer, path: Path) -> None:
    recorder = await Recorder.open(address_of(server), path, options=RecordOptions(max_bytes=1000))
    running = asyncio.create_task(recorder.run())
    async with Watcher.open(recorder.port) as watcher:
        await asyncio.wait_for(running, 60)
        await watcher.until(lambda: watcher.session.error is not None)
    assert recorder.file.full
    await recorder.close()


async def test_a_second_client_is_turned_away(server: PressedServer, path: Path) -> None:
    recorder = await Recorder.open(address_of(server), path)
    running = asyncio.create_task(recorder.run())
    async with Watcher.open(recorder.port) as watcher:
        with pytest.raises(ConnectError):
            await connect(VNCAddress("127.0.0.1", recorder.port), on_change=lambda: None)
        server.present(picture(7))
        await watcher.until(lambda: np.array_equal(watcher.frame, picture(7)))
    await asyncio.wait_for(running, 60)
    await recorder.close()


async def test_a_change_of_the_pixel_format_in_the_middle_ends_the_recording(
    server: PressedServer, path: Path
) -> None:
    recorder = await Recorder.open(address_of(server), path)
    running = asyncio.create_task(recorder.run())
    async with plain(recorder.port) as client:
        client.request(False)
        await client.update()
        client.set_format(BGR233.encode())
        with pytest.raises(ProtocolError, match="changed its pixel format"):
            await asyncio.wait_for(running, 60)
        await recorder.close()


async def test_a_wrong_password_leaves_no_file(server: PressedServer, path: Path) -> None:
    with pytest.raises(AuthError):
        await record(VNCAddress("127.0.0.1", server.port, "wrong"), path, seconds=1)
    with pytest.raises(FileNotFoundError):
        content_and_mode(path)


async def test_a_server_that_leaves_keeps_what_it_showed(path: Path) -> None:
    async def talk(peer: Peer) -> None:
        await peer.open(WIDTH, HEIGHT)
        await peer.request()
        peer.write(ONE_PIXEL)
        await peer.request()

    async with listening(talk) as port:
        with pytest.raises(PeerLost):
            await record(VNCAddress("127.0.0.1", port), path, seconds=10)
    assert len(read_capture(path).updates) == 1


async def test_real_xvnc_replays_to_the_same_pixels(xvnc: tuple[int, str], path: Path) -> None:
    port, display = xvnc
    recorder = await Recorder.open(VNCAddress("127.0.0.1", port, PASSWORD), path)
    running = asyncio.create_task(recorder.run())
    async with Watcher.open(recorder.port) as watcher, logo(display):
        await watcher.until(lambda: 0.5 < np.mean(watcher.frame == 255) < 1)
        live, frames = watcher.frame, watcher.session.frames
    await asyncio.wait_for(running, 60)
    await recorder.close()
    async with replaying(read_capture(path)) as replay, Watcher.open(replay.port) as watcher:
        await watcher.until(lambda: watcher.session.frames >= frames and np.array_equal(watcher.frame, live))
    assert PASSWORD.encode() not in content_and_mode(path)[0]


@pytest.mark.parametrize(
    "encodings", [(7, 1, -224), (7, 1, -224, -24), (16, 1, -224), (5, 1), (2, 1)],
    ids=["tight", "tight q8", "zrle", "hextile", "rre"],
)  # fmt: skip
async def test_every_encoding_of_xvnc_is_cut_at_its_updates(
    xvnc: tuple[int, str], path: Path, encodings: tuple[int, ...]
) -> None:
    port, display = xvnc
    async with logo(display):
        address = VNCAddress("127.0.0.1", port, PASSWORD)
        await record(address, path, seconds=10, encodings=encodings, max_updates=1)
    capture = read_capture(path)
    assert len(capture.updates) == 1
    assert capture.uses - {-224} <= set(encodings)
    async with replaying(capture) as replay, plain(replay.port) as client:
        client.set_encodings(*encodings)
        client.request(False)
        sent = bytes(capture.updates[0].data)
        assert await client.read(len(sent)) == sent
