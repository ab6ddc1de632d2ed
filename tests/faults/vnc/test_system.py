"""The system refuses resources while a VNC session opens, on every driver (F38)."""

from __future__ import annotations

import asyncio
import errno
import os
import socket
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import pytest

from tests.support.system.scarcity import in_use, no_descriptors
from tests.support.vnc.rfb import Peer, listening
from vnc.errors import ConnectError
from vnc.session import Timeouts

NO_ROUTE = "255.255.255.255"
"""An address to which the system refuses TCP connections at once."""


@pytest.mark.fault("F38", "errno at connect or start")
@pytest.mark.parametrize(
    ("trouble", "host", "number"),
    [(nullcontext, NO_ROUTE, errno.ENETUNREACH), (no_descriptors, "127.0.0.1", errno.EMFILE)],
    ids=["no route", "no descriptors"],
)
@pytest.mark.parametrize("others", [0, 1], ids=["the only session", "beside another"])
async def test_f38_what_the_system_refuses_is_a_connect_error_and_leaves_nothing(
    opened, measure, trouble: Callable[[], AbstractContextManager[None]], host, number, others
):
    # A server that accepts connections, and closes them later, would leave room for a descriptor.
    silent = socket.create_server(("127.0.0.1", 0), backlog=200)
    silent_port = silent.getsockname()[1]

    async def refused() -> None:
        with trouble(), pytest.raises(ConnectError, match=f"{silent_port}: {os.strerror(number)}$"):
            async with opened.on(silent_port, host=host):
                pass

    async with listening(_serve) as port:
        with silent:
            async with opened.on(port) if others else nullcontext():
                await refused()
                before = in_use()
                for _ in range(100):
                    await refused()
                after = in_use()
        measure("additional descriptors after 100 failures", after[0] - before[0], at_most=0)
        measure("additional threads after 100 failures", after[1] - before[1], at_most=0)
        async with opened.on(port) as (session, changes):
            await changes.until(lambda: session.frames == 0 and session.error is None)


async def _serve(peer: Peer) -> None:
    await peer.open()
    await peer.idle()


def resolve(monkeypatch: pytest.MonkeyPatch, *addresses: str) -> str:
    """Make a host name resolve to these addresses."""
    real = socket.getaddrinfo

    def getaddrinfo(host: str, port: int, *rest: Any, flags: int = 0, **options: Any) -> list[Any]:
        if host != "two.example":
            return real(host, port, *rest, flags=flags, **options)
        if flags & socket.AI_NUMERICHOST:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in addresses]

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    return "two.example"


@pytest.mark.fault("F38", "errno at connect or start")
async def test_f38_the_second_address_of_a_host_is_tried(opened, monkeypatch):
    host = resolve(monkeypatch, NO_ROUTE, "127.0.0.1")
    async with listening(_serve) as port, opened.on(port, host=host) as (session, _):
        assert session.error is None


@pytest.mark.fault("F38", "errno at connect or start")
async def test_f38_the_second_address_is_tried_in_time_where_the_first_swallows_everything(
    opened, monkeypatch
):
    host = resolve(monkeypatch, "127.0.0.2", "127.0.0.1")
    async with listening(_serve) as port:
        with socket.socket() as hole:
            hole.bind(("127.0.0.2", port))
            hole.listen(0)
            fillers = [socket.socket() for _ in range(3)]
            for filler in fillers:
                filler.setblocking(False)
                filler.connect_ex(("127.0.0.2", port))
            async with opened.on(port, host=host, timeouts=Timeouts(connect=4.0)) as (session, _):
                assert session.error is None
            for filler in fillers:
                filler.close()


async def test_a_host_without_any_address_that_answers_says_why_for_each(opened, monkeypatch):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
        host = resolve(monkeypatch, NO_ROUTE, "127.0.0.1")
        with pytest.raises(ConnectError, match=r"unreachable.*([Rr]efused|Connect call failed)"):
            async with opened.on(port, host=host):
                pass


async def test_a_server_that_refuses_us_is_not_asked_again_at_another_address(opened, monkeypatch):
    host = resolve(monkeypatch, "127.0.0.1", "127.0.0.1")
    clients = 0

    async def leave(peer: Peer) -> None:
        nonlocal clients
        clients += 1
        await peer.greet()

    async with listening(leave) as port:
        with pytest.raises(ConnectError, match="closed during the handshake"):
            async with opened.on(port, host=host):
                pass
        assert clients == 1


async def test_a_name_that_nobody_knows_is_a_connect_error_in_words(opened):
    for name in ("unknown.invalid", "a" * 64 + ".invalid"):
        with pytest.raises(ConnectError, match=f"^{name}:1: [A-Z-a-z]") as caught:
            async with opened.on(1, host=name):
                pass
        assert "Unknown error" not in str(caught.value)
        await asyncio.sleep(0)
