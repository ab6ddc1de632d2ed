"""The HTTP requests that become a rewarder's connections, and what may sit beside or behind them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import TYPE_CHECKING, Protocol
from urllib.parse import urlsplit
from weakref import WeakSet

from websockets.asyncio.server import ServerConnection
from websockets.http11 import Request, Response
from websockets.protocol import State

from rewarder.offer import Offer

if TYPE_CHECKING:
    from rewarder.messages import ObservationSpace
    from rewarder.protocol import CallRequest, StepRequest
    from rewarder.server import RewarderServer

_TLS_HANDSHAKE = b"\x16"  # RFC 8446 section 5.1: the first byte of a client over TLS
_NOT_HERE = b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


class Extras(Protocol):
    """What a remote can do beyond v0; see `rewarder.extras`."""

    @property
    def offer(self) -> Offer:
        """What every client is told at the upgrade."""
        ...

    @property
    def observation_space(self) -> ObservationSpace | None:
        """What a client that wants observations is told first."""
        ...

    def heed(self, wants: frozenset[str]) -> None:
        """The controlling client, a new one or none, wants these of the offered features."""
        ...

    def handle(self, request: StepRequest | CallRequest, server: RewarderServer) -> None:
        """Do what a client asks for, and answer through `server`."""
        ...


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
    """Return a class of connections that join `websockets` at once: the library's own set waits for the upgrade.

    A client that begins TLS here, where there is none, is told so at once: as HTTP it would never come to an end.
    """

    class Tracked(ServerConnection):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            super().connection_made(transport)
            websockets.add(self)

        def data_received(self, data: bytes) -> None:
            if self.state is State.CONNECTING and data.startswith(_TLS_HANDSHAKE):
                self.transport.write(_NOT_HERE)
                self.transport.close()
            else:
                super().data_received(data)

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
