"""What a rewarder's server and its clients read in the HTTP requests and responses that become WebSockets."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from http import HTTPStatus
from typing import Protocol
from urllib.parse import urlsplit
from weakref import WeakSet

from websockets.asyncio.server import ServerConnection
from websockets.datastructures import Headers
from websockets.http11 import Request, Response

LOCKSTEP = "lockstep"
"""What a server that can be stepped offers, and what a client that wants to step asks for."""

_OFFER = "Universe-Capabilities"
_MODE = "Universe-Mode"


def offer(capabilities: Sequence[str]) -> tuple[str, str]:
    """Return the response header in which a server says what it can do beyond v0."""
    return _OFFER, ", ".join(capabilities)


def offered(headers: Headers) -> frozenset[str]:
    """Return what a server offers; nothing, if it is not one of ours."""
    words = (word.strip() for value in headers.get_all(_OFFER) for word in value.split(","))
    return frozenset(word for word in words if word)


def ask_for(mode: str) -> tuple[str, str]:
    """Return the request header in which a client says how it wants time to pass."""
    return _MODE, mode


def asks_for_lockstep(websocket: ServerConnection) -> bool:
    """Whether the client wants to step the environment."""
    request = websocket.request
    return request is not None and request.headers.get(_MODE, "").strip().lower() == LOCKSTEP


class Site(Protocol):
    """Pages and WebSockets beside the rewarder's own, all of them below one path."""

    @property
    def prefix(self) -> str:
        """The path, `/` at both ends."""
        ...

    async def respond(
        self, websocket: ServerConnection, request: Request, admit: Callable[[], Awaitable[HTTPStatus]]
    ) -> Response | None:
        """Answer a request; None lets it become a WebSocket. `admit` checks it as a rewarder connection."""
        ...

    async def serve(self, websocket: ServerConnection) -> None:
        """Talk to a WebSocket that `respond` let in."""
        ...


def tracked(websockets: WeakSet[ServerConnection]) -> type[ServerConnection]:
    """Return a class of connections that join `websockets` at once: the library's own set waits for the upgrade."""

    class Tracked(ServerConnection):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            super().connection_made(transport)
            websockets.add(self)

    return Tracked


def refused(websocket: ServerConnection, status: HTTPStatus) -> Response:
    """Return the answer to a request that is turned down."""
    response = websocket.respond(status, f"{status.phrase.lower()}\n")
    if status == HTTPStatus.UNAUTHORIZED:
        response.headers["WWW-Authenticate"] = 'Basic realm="rewarder"'
    return response


def request_path(websocket: ServerConnection) -> str:
    """Return the path that was asked for, without its query."""
    return urlsplit(websocket.request.path).path if websocket.request is not None else ""


def is_observer(websocket: ServerConnection) -> bool:
    """Whether the client only wants to listen."""
    request = websocket.request
    return request is not None and request.headers.get("openai-observer", "").strip().lower() == "true"


def peer_address(websocket: ServerConnection) -> str:
    """Return the client's IP address."""
    address = websocket.remote_address
    return str(address[0]) if address else "unknown"


def peer_label(websocket: ServerConnection) -> str:
    """Return what logs call the client: its address and port."""
    address = websocket.remote_address
    return f"{address[0]}:{address[1]}" if address else "unknown"
