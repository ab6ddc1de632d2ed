"""Streamable HTTP: who may use the server."""

from __future__ import annotations

import asyncio
import http.client
import json
import socket
from contextlib import asynccontextmanager

import httpx2
import pytest
import uvicorn
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from universe_client.cli.commands.mcp import listen
from universe_client.errors import ConfigError
from universe_client.hands.mcp.http import http_app
from universe_client.hands.mcp.remotes import Remotes
from universe_client.hands.mcp.server import make_server

TOKEN = "a-token-of-this-test"
ASK = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}})


@pytest.fixture
def served(open_env, scripted):
    """Serve one scripted remote on loopback; give the port."""

    @asynccontextmanager
    async def serve(**options):
        desks = Remotes(open_env(scripted()))
        listener = listen("0")
        server = uvicorn.Server(
            uvicorn.Config(http_app(make_server(desks), TOKEN, **options), log_config=None, lifespan="on")
        )
        running = asyncio.create_task(server.serve(sockets=[listener]))
        try:
            yield listener.getsockname()[1]
        finally:
            server.should_exit = True
            await running
            desks.close()

    return serve


async def status(port, **headers):
    """Return the status of a request with these headers, of which None removes one."""
    all_headers = {
        "Authorization": f"Bearer {TOKEN}",
        "Content-Type": "application/json",
        "Host": f"127.0.0.1:{port}",
    }
    all_headers |= {"Accept": "application/json, text/event-stream"} | headers

    def ask():
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        connection.putrequest("POST", "/mcp", skip_host=True)
        for name, value in all_headers.items():
            if value is not None:
                connection.putheader(name, value)
        connection.putheader("Content-Length", str(len(ASK)))
        connection.endheaders(ASK.encode())
        answer = connection.getresponse().status
        connection.close()
        return answer

    return await asyncio.to_thread(ask)


async def test_the_official_client_acts_with_the_token(served):
    async with served() as port:
        headers = {"Authorization": f"Bearer {TOKEN}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=60) as http_client,
            Client(streamable_http_client(f"http://127.0.0.1:{port}/mcp", http_client=http_client)) as client,
        ):
            result = await client.call_tool("click", {"x": 3, "y": 4})
    assert not result.is_error and result.content[1].mime_type == "image/jpeg"


async def test_without_the_token_nothing_is_answered(served):
    async with served() as port:
        for header in (None, "", TOKEN, f"bearer {TOKEN}", f"Bearer {TOKEN}x", "Bearer ", f"Basic {TOKEN}"):
            assert await status(port, Authorization=header) == 401, header
        assert await status(port) not in (401, 403, 421)


async def test_names_that_a_page_in_a_browser_could_have_are_refused(served):
    """DNS rebinding: the page's own name leads to 127.0.0.1."""
    async with served() as port:
        for host in ("evil.example", f"evil.example:{port}", "127.0.0.1.evil.example", "", None):
            assert await status(port, Host=host) in (400, 421), host
        for host in (f"localhost:{port}", "localhost", f"[::1]:{port}"):
            assert await status(port, Host=host) not in (401, 403, 421), host
        assert await status(port, Origin="http://evil.example") == 403
        assert await status(port, Origin="null") == 403


async def test_a_proxy_may_have_a_name(served):
    async with served(allowed_hosts=["screens.example"]) as port:
        assert await status(port, Host="screens.example") not in (401, 403, 421)
        assert await status(port, Host="screens.example", Origin="https://screens.example") not in (
            401,
            403,
            421,
        )
        assert await status(port, Host="evil.example") == 421


@pytest.mark.parametrize("where", ["0.0.0.0:0", "192.0.2.1:80", "[::]:0"])
def test_it_listens_on_loopback_only(where):
    with pytest.raises(ConfigError, match=r"can be reached from other machines.*ssh -L"):
        listen(where)


@pytest.mark.parametrize("where", ["", "x", "host.example:1", "127.0.0.1:x", "70000"])
def test_an_address_that_is_none_is_refused(where):
    with pytest.raises(ConfigError, match="--http"):
        listen(where)


def test_it_listens_where_it_is_told():
    for where in ("0", "localhost:0", "127.0.0.1:0"):
        with listen(where) as listener:
            assert listener.family == socket.AF_INET and listener.getsockname()[0] == "127.0.0.1"
