"""The HTTP requests that become a rewarder's connections, and what may sit beside or behind them."""

from __future__ import annotations

import asyncio
import ipaddress
import re
import time
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlsplit
from weakref import WeakSet

from websockets.asyncio.server import ServerConnection
from websockets.datastructures import Headers
from websockets.http11 import Request, Response
from websockets.protocol import State

from rewarder.protocol.features import Offer
from rewarder.server.authenticator import same_origin

if TYPE_CHECKING:
    from rewarder.protocol.messages import EnvObservationSpace
    from rewarder.protocol.sessions import CallRequest, StepRequest
    from rewarder.server.server import RewarderServer

_TLS_HANDSHAKE = b"\x16"  # RFC 8446 section 5.1: the first byte of a client over TLS
_HOST = re.compile(r"(?P<name>\[[0-9a-f:.]+(%[\w.-]+)?\]|[^\[\]:/@\s]+)(:\d{1,5})?", re.ASCII)
_NOT_HERE = b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


@dataclass(frozen=True, slots=True)
class ServerLimits:
    """The most clients may make a remote hold, and how long it waits for them."""

    outgoing: int = 512 * 1024
    """Bytes waiting for a client that does not read; who is to be sent more on top of that is dropped."""
    answers: int = 256 * 1024
    """Of these bytes, the answers to a client's WebSocket pings."""
    observers: int = 64
    unopened: int = 64
    """Connections before the end of their upgrade; beyond it the oldest of them makes room for the newest."""
    open_timeout: float = 15.0
    """From TCP connection to upgrade, a delay for wrong passwords included."""
    ping_interval: float = 5.0
    ping_timeout: float = 10.0
    close_timeout: float = 2.0


class Extras(Protocol):
    """What a remote can do beyond v0; see `rewarder.sdk.extras`."""

    @property
    def offer(self) -> Offer:
        """What every client is told at the upgrade."""
        ...

    @property
    def env_observation_space(self) -> EnvObservationSpace | None:
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


def tracked(websockets: WeakSet[ServerConnection], limits: ServerLimits) -> type[ServerConnection]:
    """Return a class of connections that join `websockets` at once: the library's own set waits for the upgrade.

    It adds three things to the library's. Before the end of their upgrade there are at most `limits.unopened`. A client
    that begins TLS where there is none is refused at once: as HTTP its request would never come to an end. And one that
    does not read what the library itself answers it is dropped.
    """

    class Tracked(ServerConnection):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            self.accepted = time.monotonic()
            self.connected = False  # with TLS: its handshake is over
            self.answers = 0  # bytes of the library's own among those that wait
            self._make_room()
            websockets.add(self)

        def _make_room(self) -> None:
            since = self.accepted - limits.open_timeout
            others = (each for each in websockets if isinstance(each, Tracked) and each.accepted >= since)
            waiting = [each for each in others if each.state is State.CONNECTING]
            if len(waiting) < limits.unopened:
                return
            oldest = min(waiting, key=lambda each: (not each.connected, each.accepted))
            if not oldest.connected:
                raise ConnectionRefusedError(f"{len(waiting)} clients are in their TLS handshake")
            websockets.discard(oldest)
            oldest.transport.abort()

        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            super().connection_made(transport)
            self.connected = True

        def data_received(self, data: bytes) -> None:
            if self.state is State.CONNECTING and data.startswith(_TLS_HANDSHAKE):
                self.transport.write(_NOT_HERE)
                self.transport.close()
                return
            before = self.transport.get_write_buffer_size()
            super().data_received(data)
            after = self.transport.get_write_buffer_size()
            self.answers = self.answers + after - before if after else 0
            if self.answers > limits.answers:
                self.transport.abort()

    return Tracked


def check_source(headers: Headers, names: Collection[str]) -> HTTPStatus:
    """Say whether a request may be answered at all: OK, or 400 or 403.

    A page of another site must get nothing here, also when the name of that site has been made to lead here ("DNS
    rebinding"): its Origin and its Host are then the same. So the Host has to be an address, `localhost` or one of
    `names` (in lower case).
    """
    hosts, origins = headers.get_all("Host"), headers.get_all("Origin")
    if len(hosts) > 1 or len(origins) > 1:
        return HTTPStatus.BAD_REQUEST
    host = next(iter(hosts), "")
    ours = _is_ours(host, names) and same_origin(next(iter(origins), None), host)
    return HTTPStatus.OK if ours else HTTPStatus.FORBIDDEN


def _is_ours(host: str, names: Collection[str]) -> bool:
    match = _HOST.fullmatch(host.lower())
    if match is None:
        return False
    name = match["name"]
    if name == "localhost" or name in names:
        return True
    try:
        ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True


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
