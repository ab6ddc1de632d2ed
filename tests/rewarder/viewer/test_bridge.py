"""RFB through the bridge: a watcher receives pixels, and its input is dropped."""

import asyncio
import struct
from contextlib import asynccontextmanager

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from rewarder.sdk.runtime import Tick
from rewarder.viewer import site as viewer_module
from rewarder.viewer.bridge import Screen
from tests.rewarder.remotes import Scripted, served
from tests.rewarder.sdk.test_runtime import get_health
from tests.vnc.server.test_gate import HELLO, KEY, QEMU_KEY
from vnc.client import portable
from vnc.errors import AuthError
from vnc.events import KeyEvent, PointerEvent
from vnc.session import VNCAddress
from vnc.tls import TLS

POINTER = struct.pack(">BBHH", 5, 1, 10, 5)
PASSWORDS = {"password": "canary-full", "view_only_password": "canary-view"}


class Browser:
    """As noVNC behaves on the wire, but ruthless."""

    def __init__(self, websocket):
        self.websocket = websocket
        self._received = b""

    async def read(self, length):
        async with asyncio.timeout(60):
            while len(self._received) < length:
                self._received += await self.websocket.recv()
        data, self._received = self._received[:length], self._received[length:]
        return data

    async def join(self):
        """Shake hands; return width, height and name of the screen."""
        assert await self.read(12) == b"RFB 003.008\n"
        await self.websocket.send(HELLO[:12])
        assert await self.read(2) == b"\x01\x01", "no password is asked for"
        await self.websocket.send(HELLO[12:13])
        assert await self.read(4) == bytes(4)
        await self.websocket.send(HELLO[13:])
        width, height, length = struct.unpack(">HH16xI", await self.read(24))
        return width, height, (await self.read(length)).decode()

    async def update(self):
        """Ask for the whole screen raw; return its first pixel's bytes."""
        await self.websocket.send(struct.pack(">BxHi", 2, 1, 0))
        await self.websocket.send(struct.pack(">BBHHHH", 3, 0, 0, 0, 16, 8))
        kind, rects = struct.unpack(">BxH", await self.read(4))
        x, y, width, height, encoding = struct.unpack(">HHHHi", await self.read(12))
        assert (kind, rects, x, y, width, height, encoding) == (0, 1, 0, 0, 16, 8, 0)
        return (await self.read(16 * 8 * 4))[:4]


@asynccontextmanager
async def browser(ports, token, tls=None):
    scheme = "ws" if tls is None else "wss"
    url = f"{scheme}://127.0.0.1:{ports.rewarder_port}/viewer/websockify?token={token}"
    async with connect(url, proxy=None, compression=None, ssl=tls) as websocket:
        yield Browser(websocket)


@pytest.mark.parametrize("access", [{}, {"password": "canary-full"}, PASSWORDS], ids=["open", "one", "two"])
async def test_a_watcher_sees_and_is_not_heard(access):
    runtime = Scripted()
    async with (
        served(runtime, **access) as (ports, _),
        browser(ports, ports.tokens.watch) as watcher,
        browser(ports, ports.tokens.act) as actor,
    ):
        assert await watcher.join() == (16, 8, "test.Scripted-v0")
        await actor.join()
        await runtime.until(lambda: runtime.number > 1)
        assert await watcher.update() == b"\1\1\1\0"
        await watcher.websocket.send(KEY + POINTER + QEMU_KEY)
        for byte in KEY + POINTER:
            await watcher.websocket.send(bytes([byte]))
        assert await watcher.update() == b"\1\1\1\0", "what it sent before has been read"
        # The same bytes from who may act: proof that they would have arrived.
        await actor.websocket.send(KEY + POINTER)
        await runtime.until(lambda: len(runtime.inputs) >= 2)
        await watcher.update()
    assert runtime.inputs == [KeyEvent(0x61, True), PointerEvent(10, 5, 1)]


async def test_a_new_episodes_picture_arrives():
    runtime = Scripted()
    async with served(runtime) as (ports, _), browser(ports, ports.tokens.watch) as watcher:
        await watcher.join()
        await watcher.update()
        runtime.script = lambda number: Tick(done=True)
        async with asyncio.timeout(60):
            while await watcher.update() == b"\1\1\1\0":
                pass


@pytest.mark.parametrize("nonsense", ["text", b"GET / HTTP/1.1\r\n\r\n"])
async def test_who_does_not_speak_rfb_is_turned_away(nonsense):
    async with served(Scripted()) as (ports, _), browser(ports, ports.tokens.act) as client:
        await client.read(12)
        await client.websocket.send(nonsense)
        with pytest.raises(ConnectionClosed) as caught:
            await client.read(1)
    assert caught.value.rcvd.code == (1003 if isinstance(nonsense, str) else 1008)


async def test_an_unknown_message_ends_the_session_and_nothing_after_it_arrives():
    runtime = Scripted()
    async with served(runtime) as (ports, _), browser(ports, ports.tokens.act) as client:
        await client.join()
        await client.websocket.send(b"\x64" + KEY)
        with pytest.raises(ConnectionClosed) as caught:
            await client.read(1)
    assert caught.value.rcvd.code == 1008 and "message type 100" in caught.value.rcvd.reason
    assert runtime.inputs == []


async def test_a_screen_that_is_not_there_is_told_of():
    async with served(Scripted(), display=1) as (ports, _), browser(ports, ports.tokens.watch) as client:
        with pytest.raises(ConnectionClosed) as caught:
            await client.read(1)
    assert caught.value.rcvd.code == 1011 and caught.value.rcvd.reason == "the screen is not reachable"


async def test_the_end_of_the_remote_ends_its_viewers():
    async with served(Scripted()) as (ports, task), browser(ports, ports.tokens.watch) as client:
        await client.join()
        task.cancel()
        with pytest.raises(ConnectionClosed) as caught:
            await client.read(1)
        await asyncio.wait([task])
    assert caught.value.rcvd.code == 1001


async def test_viewers_are_bounded(monkeypatch):
    monkeypatch.setattr(viewer_module, "MAX_VIEWERS", 1)
    async with served(Scripted()) as (ports, _), browser(ports, ports.tokens.watch) as first:
        await first.join()
        async with browser(ports, ports.tokens.watch) as second:
            with pytest.raises(ConnectionClosed) as caught:
                await second.read(1)
        assert caught.value.rcvd.code == 1013
        await first.update()


@pytest.mark.parametrize("access", [{}, {"password": "canary-full"}, PASSWORDS], ids=["open", "one", "two"])
async def test_over_tls_both_halves_of_the_way_are(access, authority, identity):
    context = TLS(ca_file=authority.certificate).context()
    async with (
        served(Scripted(), identity=identity, **access) as (ports, _),
        browser(ports, ports.tokens.watch, context) as watcher,
    ):
        assert await watcher.join() == (16, 8, "test.Scripted-v0")
        await watcher.update()
        with pytest.raises(AuthError, match="the server asks for TLS"):
            await portable.connect(VNCAddress("127.0.0.1", ports.vnc_port), on_change=lambda: None)


async def test_a_viewer_is_neither_controller_nor_observer():
    async with served(Scripted()) as (ports, _), browser(ports, ports.tokens.act) as client:
        await client.join()
        health = await get_health(ports)
    assert (health["controllers"], health["observers"], health["vnc_clients"]) == (0, 0, 1)


def test_a_screen_does_not_show_its_passwords():
    screen = Screen("127.0.0.1", 5900, "canary-full", "canary-view")
    assert "canary" not in repr(screen)
    assert screen.address(acting=False).password == "canary-view"
    assert screen.address(acting=True).password == "canary-full"
