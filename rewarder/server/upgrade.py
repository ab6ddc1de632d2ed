"""HTTP upgrade requests: their checks, limits, and the interfaces of features and sites."""

from __future__ import annotations

import asyncio
import ipaddress
import json
import re
import ssl
import time
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlsplit
from weakref import WeakSet

from websockets.asyncio.server import ServerConnection
from websockets.datastructures import Headers
from websockets.http11 import Request, Response
from websockets.protocol import State

from rewarder.credentials import wire_logger
from rewarder.protocol.codec import MAX_FRAME
from rewarder.protocol.features import LOCKSTEP, Offer, wanted
from rewarder.server.authenticator import same_origin
from rewarder.version import PRODUCT_TOKEN

if TYPE_CHECKING:
    from rewarder.protocol.messages import EnvObservationSpace
    from rewarder.protocol.sessions import CallRequest, StepRequest, WatchRequest
    from rewarder.server.server import RewarderServer

_TLS_HANDSHAKE = b"\x16"  # RFC 8446 section 5.1: the first byte of a client over TLS
_HOST = re.compile(r"(?P<name>\[[0-9a-f:.]+(%[\w.-]+)?\]|[^\[\]:/@\s]+)(:\d{1,5})?", re.ASCII)
_NOT_HERE = b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


@dataclass(frozen=True, slots=True)
class ServerLimits:
    """What clients may consume, and how long the server waits for them.

    Attributes:
        outgoing: unsent bytes beyond which a client that does not read is dropped.
        answers: unsent bytes of WebSocket pongs and the like, beyond which a client is dropped.
        observers: connected observers.
        unopened: connections before the end of their upgrade; beyond it, the newest replaces the oldest.
        open_timeout: seconds from TCP connection to upgrade, including the delay after wrong passwords.
        ping_interval: seconds between two WebSocket pings.
        ping_timeout: seconds for the reply.
        close_timeout: seconds for the closing handshake.
    """

    outgoing: int = 512 * 1024
    answers: int = 256 * 1024
    observers: int = 64
    unopened: int = 64
    open_timeout: float = 15.0
    ping_interval: float = 5.0
    ping_timeout: float = 10.0
    close_timeout: float = 2.0


class Extras(Protocol):
    """The features of a remote beyond v0; `rewarder.sdk.extras` implements this."""

    @property
    def offer(self) -> Offer:
        """The features that the response to every upgrade announces."""
        ...

    @property
    def env_observation_space(self) -> EnvObservationSpace | None:
        """The first message to a client that wants environment observations."""
        ...

    def activate(self, wants: frozenset[str]) -> None:
        """Switch to the features that the controlling client wants; none without a client."""
        ...

    def handle(self, request: StepRequest | CallRequest | WatchRequest, server: RewarderServer) -> None:
        """Handle a request of a client, and reply through `server`."""
        ...


class Site(Protocol):
    """Further pages and WebSockets on the rewarder's port, below one path."""

    @property
    def prefix(self) -> str:
        """The path, which begins and ends with `/`."""
        ...

    async def respond(
        self, websocket: ServerConnection, request: Request, admit: Callable[[], Awaitable[HTTPStatus]]
    ) -> Response | None:
        """Answer a request; None makes it a WebSocket. `admit` checks it like a rewarder connection."""
        ...

    async def serve(self, websocket: ServerConnection) -> None:
        """Serve a WebSocket that `respond` accepted."""
        ...


def tracked(websockets: WeakSet[ServerConnection], limits: ServerLimits) -> type[ServerConnection]:
    """Return a class of connections that add themselves to `websockets` when they are made.

    The library's own set contains connections only after their upgrade. The class has three more limits. At most
    `limits.unopened` connections are before the end of their upgrade. A client that begins TLS at a server without TLS
    is refused at once, because as an HTTP request its data would have no end. A client that does not read the library's
    own answers is dropped.
    """

    class Tracked(ServerConnection):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            self.accepted = time.monotonic()
            self.connected = False  # whether the TLS handshake, if any, is complete
            self.answers = 0  # unsent bytes of the library's own answers
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


def websocket_options(
    websockets: WeakSet[ServerConnection], limits: ServerLimits, tls: ssl.SSLContext | None
) -> dict[str, Any]:
    """Return the arguments of `websockets.asyncio.server.serve` for a rewarder; see `tracked`."""
    return {
        "create_connection": tracked(websockets, limits),
        "server_header": PRODUCT_TOKEN,
        "compression": None,
        "max_size": MAX_FRAME,
        "open_timeout": limits.open_timeout,
        "ping_interval": limits.ping_interval,
        "ping_timeout": limits.ping_timeout,
        "close_timeout": limits.close_timeout,
        "logger": wire_logger("rewarder.wire.server"),
        "ssl": tls,
        "ssl_handshake_timeout": None if tls is None else limits.open_timeout,
        "ssl_shutdown_timeout": None if tls is None else limits.close_timeout,
    }


def check_source(headers: Headers, names: Collection[str]) -> HTTPStatus:
    """Return OK if a request comes from an allowed origin, else 400 or 403.

    Pages of other sites must not read anything here. With DNS rebinding, the name of such a site resolves to this
    server, and its Origin equals its Host. Therefore the Host must be an address, `localhost` or one of `names`.

    Args:
        headers: of the request.
        names: allowed host names, in lower case.
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
    """Return the response to a refused request."""
    response = websocket.respond(status, f"{status.phrase.lower()}\n")
    if status == HTTPStatus.UNAUTHORIZED:
        response.headers["WWW-Authenticate"] = 'Basic realm="rewarder"'
    return response


def json_page(websocket: ServerConnection, value: Mapping[str, object]) -> Response:
    """Return a response with a JSON object."""
    response = websocket.respond(HTTPStatus.OK, json.dumps(value) + "\n")
    del response.headers["Content-Type"]
    response.headers["Content-Type"] = "application/json"
    response.headers["Cache-Control"] = "no-store"
    return response


def request_path(websocket: ServerConnection) -> str:
    """Return the path of the upgrade request, without its query."""
    return urlsplit(websocket.request.path).path if websocket.request is not None else ""


def is_observer(websocket: ServerConnection) -> bool:
    """Return whether the client asked to be an observer."""
    request = websocket.request
    return request is not None and request.headers.get("openai-observer", "").strip().lower() == "true"


def peer_address(websocket: ServerConnection) -> str:
    """Return the client's IP address."""
    address = websocket.remote_address
    return str(address[0]) if address else "unknown"


def may_share_memory(websocket: ServerConnection, request: Request) -> bool:
    """Return whether the client wants to step this remote and seems to be on the same host: a tunnel does too."""
    if LOCKSTEP not in wanted(request.headers) or is_observer(websocket):
        return False
    try:
        return ipaddress.ip_address(peer_address(websocket)).is_loopback
    except ValueError:  # an unknown address
        return False


def peer_label(websocket: ServerConnection) -> str:
    """Return the client's name in logs, its address and port."""
    address = websocket.remote_address
    return f"{address[0]}:{address[1]}" if address else "unknown"
