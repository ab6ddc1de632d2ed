"""Attacks on our servers: clients that never read (F42), and a web page in the user's browser (F43)."""

from __future__ import annotations

import asyncio
import re
import struct
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import pytest

from rewarder.credentials import authorization
from tests.rewarder.remotes import Scripted, served
from tests.support.network.http import get
from tests.vnc.rfb_client import RFBClient
from tests.vnc.server.test_server_bounds import COLOUR_MAP
from universe_client.providers.embedded import EmbeddedProvider
from universe_client.providers.provider import RemoteAddress

CLIENTS = 8
ZRLE = 16
STRANGER = "evil.example"
UPGRADE = (
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
)
REQUEST = struct.pack(">BBHHHH", 3, 0, 0, 0, 65535, 65535)
PING = b"\x89\xfd" + bytes(4) + b"x" * 125


class Remote:
    """Start a real remote in another process."""

    def __init__(self, address: RemoteAddress, pid: int) -> None:
        assert address.rewarder is not None
        self.vnc, self.rewarder, self._pid = address.vnc, address.rewarder, pid

    def kilobytes(self, name: str) -> int:
        status = Path(f"/proc/{self._pid}/status").read_text()
        return int(re.search(rf"{name}:\s+(\d+)", status)[1])

    async def join_vnc(self) -> asyncio.StreamWriter:
        return (await self.join()).writer

    async def join(self) -> RFBClient:
        return await RFBClient.connect(self.vnc.port, self.vnc.password)

    async def join_rewarder(self) -> asyncio.StreamWriter:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.rewarder.port)
        head = (
            "GET / HTTP/1.1",
            "Host: localhost",
            "openai-observer: true",
            f"Authorization: {authorization(self.rewarder.password)}",
            *UPGRADE,
        )
        writer.write("\r\n".join((*head, "", "")).encode())
        assert (await reader.readline()).startswith(b"HTTP/1.1 101 ")
        return writer


@pytest.fixture
async def remote() -> AsyncIterator[Remote]:
    provider = EmbeddedProvider(1, "builtin.NeonDrive-v0")
    try:
        address = await provider.acquire(0)
        remote = Remote(address, provider._children[0].process.pid)
        first = await remote.join()  # the state that all clients share exists from now on
        first.set_encodings(ZRLE)
        first.request(False)
        await first.update()
        yield remote
        first.writer.close()
        await first.writer.wait_closed()
    finally:
        await provider.close()


async def never_read(writer: asyncio.StreamWriter, said: bytes) -> None:
    """Send the same data repeatedly without reading, until the server closes the connection.

    A rewarder that has published rewards meanwhile closes with a handshake: it reads on until `close_timeout`.
    """
    writer.transport.pause_reading()
    piece = said * (65536 // len(said) + 1)
    try:
        with suppress(ConnectionError):
            while True:
                writer.write(piece)
                await writer.drain()
    finally:
        writer.transport.abort()


@pytest.mark.fault("F42", "a viewer that never reads")
@pytest.mark.parametrize(
    ("channel", "said"),
    [("vnc", b"\0\0\0\0" + COLOUR_MAP), ("rewarder", PING)],
    ids=["colour maps", "pings"],
)
async def test_f42_a_client_that_never_reads_is_ended_at_a_bound(remote, measure, channel, said):
    join = remote.join_vnc if channel == "vnc" else remote.join_rewarder
    writers = [await join() for _ in range(CLIENTS)]
    before = remote.kilobytes("VmRSS")
    async with asyncio.timeout(120):
        await asyncio.gather(*(never_read(writer, said) for writer in writers))
    grown = (remote.kilobytes("VmHWM") - before) / 1024 / CLIENTS
    measure("memory", grown, at_most=1.0, unit="MiB a client")


@pytest.mark.fault("F42", "a viewer that never reads")
async def test_f42_requests_of_a_client_that_never_reads_are_not_queued(remote, measure):
    writers = [await remote.join_vnc() for _ in range(CLIENTS)]
    for writer in writers:
        writer.write(struct.pack(">BxHi", 2, 1, ZRLE))
    before = remote.kilobytes("VmRSS")
    rounds = [asyncio.wait_for(never_read(writer, REQUEST * 100), 3) for writer in writers]
    await asyncio.gather(*rounds, return_exceptions=True)
    grown = (remote.kilobytes("VmHWM") - before) / 1024 / CLIENTS
    measure("memory", grown, at_most=1.0, unit="MiB a client")


def sources(port: int) -> list[tuple[str, str | None, bool]]:
    """Yield hosts and origins, and whether the server may answer them."""
    here = f"127.0.0.1:{port}"
    return [
        (here, None, True),
        (here, f"http://{here}", True),
        (f"localhost:{port}", f"http://localhost:{port}", True),
        (f"LOCALHOST:{port}", None, True),
        ("127.0.0.1", None, True),
        (f"[::1]:{port}", f"http://[::1]:{port}", True),
        (f"listed.example:{port}", f"http://listed.example:{port}", True),
        (f"{STRANGER}:{port}", f"http://{STRANGER}:{port}", False),
        (f"{STRANGER}:{port}", None, False),
        (STRANGER, "null", False),
        (here, f"http://{STRANGER}:{port}", False),
        (here, "null", False),
        (f"127.0.0.1.{STRANGER}:{port}", None, False),
        (f"{STRANGER}@127.0.0.1:{port}", None, False),
        (f"localhost.{STRANGER}", None, False),
        (f"a.listed.example:{port}", None, False),
        ("2130706433", None, False),
        ("", None, False),
    ]


@pytest.mark.fault("F43", "a web page of the user's browser")
async def test_f43_a_page_of_another_name_gets_nothing_on_any_path(measure):
    """Start a remote without a password, so that only the Host check protects it."""
    async with served(Scripted(), allow_hosts=["Listed.example"]) as (ports, _):
        watch = ports.tokens.watch
        paths = [
            "/",
            "/healthz",
            "/viewer/",
            "/viewer/tokens",
            "/nothing",
            f"/viewer/websockify?token={watch}",
        ]
        table = sources(ports.rewarder_port)
        wrong = []
        for path in paths:
            for host, origin, answered in table:
                lines = [f"Host: {host}"] + ([f"Origin: {origin}"] if origin else [])
                upgrade = UPGRADE if path == "/" or "websockify" in path else ()
                status = await status_of(ports.rewarder_port, path, *lines, *upgrade)
                if (status != 403) != answered:
                    wrong.append((path, host, origin, status))
        measure("sources with a wrong answer", len(wrong), equals=0)
        assert not wrong


async def status_of(port: int, path: str, *lines: str) -> int:
    """Return the status of the answer to a request with these header lines alone."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write("\r\n".join((f"GET {path} HTTP/1.1", *lines, "", "")).encode())
        async with asyncio.timeout(60):
            return int((await reader.readline()).split()[1])
    finally:
        writer.transport.abort()


@pytest.mark.fault("F43", "a web page of the user's browser")
async def test_f43_two_hosts_in_one_request_are_none():
    async with served(Scripted()) as (ports, _):
        answer = await get(ports.rewarder_port, "/healthz", f"Host: {STRANGER}")
        assert answer.status == 400


@pytest.mark.fault("F43", "a web page of the user's browser")
async def test_f43_the_vnc_port_answers_no_browser():
    async with served(Scripted()) as (ports, _):
        reader, writer = await asyncio.open_connection("127.0.0.1", ports.vnc_port)
        writer.write(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        async with asyncio.timeout(60):
            assert await reader.read() == b"RFB 003.008\n", "and nothing after its banner"
        writer.close()
