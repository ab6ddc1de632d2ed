"""The remote's end, an asyncio shell around `ServerSession`: rewarder connections and a health page on one port.

One client controls, any number (up to a bound) observe. Nothing here waits for a client: what is published goes
to everybody's socket at once, and a client that does not read is dropped.
"""

from __future__ import annotations

import asyncio
import json
import logging
import ssl
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from itertools import count
from typing import Any
from urllib.parse import urlsplit
from weakref import WeakSet

from websockets.asyncio.connection import broadcast
from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response
from websockets.protocol import State

from rewarder.credentials import wire_logger
from rewarder.errors import BUSY, OVERLOADED, ProtocolError
from rewarder.protocol.episode import EpisodeId
from rewarder.protocol.features import ENV_OBSERVATION, wanted
from rewarder.protocol.messages import MAX_FRAME, Describe, EnvObservation, Message, ReplyCall, Text
from rewarder.protocol.sessions import (
    ActionRequest,
    CallRequest,
    ResetRequest,
    ServerSession,
    StepRequest,
    checked_reward,
    close_reason,
)
from rewarder.protocol.sessions import (
    Request as ClientRequest,
)
from rewarder.server.authenticator import Authenticator
from rewarder.server.idle import IdleWatch
from rewarder.server.upgrade import (
    Extras,
    ServerLimits,
    Site,
    check_source,
    is_observer,
    peer_address,
    peer_label,
    refused,
    request_path,
    tracked,
)
from rewarder.version import PRODUCT_TOKEN, peer_version

__all__ = ["ResetRequest", "RewarderServer", "ServerLimits", "Site"]

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, eq=False)
class _Peer:
    websocket: ServerConnection
    session: ServerSession
    wants: frozenset[str]


class RewarderServer:
    """Speaks the v0 protocol to one controller and its observers. Use it on the event loop's thread."""

    def __init__(
        self,
        *,
        password: str | None,
        on_reset: Callable[[ResetRequest], None],
        on_action: Callable[[Sequence[Sequence[Any]], str | None], None] | None = None,
        extras: Extras | None = None,
        health: Callable[[], Mapping[str, object]] | None = None,
        idle_timeout: float | None = None,
        limits: ServerLimits | None = None,
        authenticator: Authenticator | None = None,
        site: Site | None = None,
        hosts: Collection[str] = (),
    ) -> None:
        self._on_reset = on_reset
        self._on_action = on_action
        self._extras = extras
        self._health = health
        self._idle = IdleWatch(idle_timeout)
        self._limits = limits or ServerLimits()
        self._auth = authenticator or Authenticator(password)
        self._site = site
        self._hosts = frozenset(name.lower() for name in hosts)
        self._peers: dict[int, _Peer] = {}
        self._numbers = count(1)
        self._described: tuple[EpisodeId, Describe] | None = None
        self._server: Server | None = None
        self._websockets: WeakSet[ServerConnection] = WeakSet()
        self._drops: set[asyncio.Task[None]] = set()

    async def start(self, host: str = "127.0.0.1", port: int = 0, tls: ssl.SSLContext | None = None) -> None:
        """Listen; `port` 0 takes a free one, with `tls` nobody gets in without it.

        Raises:
            OSError: the port is taken, or the host is not ours.
        """
        limits = self._limits
        self._server = await serve(
            self._serve_peer,
            host,
            port,
            process_request=self._process_request,
            process_response=self._process_response,
            create_connection=tracked(self._websockets, limits),
            server_header=PRODUCT_TOKEN,
            compression=None,
            max_size=MAX_FRAME,
            open_timeout=limits.open_timeout,
            ping_interval=limits.ping_interval,
            ping_timeout=limits.ping_timeout,
            close_timeout=limits.close_timeout,
            logger=wire_logger("rewarder.wire.server"),
            ssl=tls,
            ssl_handshake_timeout=None if tls is None else limits.open_timeout,
            ssl_shutdown_timeout=None if tls is None else limits.close_timeout,
        )
        self._watch_idle()

    @property
    def port(self) -> int:
        """The port it listens on.

        Raises:
            RuntimeError: it was not started.
        """
        if self._server is None:
            raise RuntimeError("the rewarder server was not started")
        return int(next(iter(self._server.sockets)).getsockname()[1])

    @property
    def controllers(self) -> int:
        """Connected controllers: 0 or 1."""
        return self._count(observer=False)

    @property
    def observers(self) -> int:
        """Connected observers."""
        return self._count(observer=True)

    def describe(self, episode_id: EpisodeId, env_id: str, env_state: str, fps: float) -> None:
        """Tell everybody an episode's state, newcomers included."""
        self._described = (episode_id, Describe(env_id, env_state, fps))
        self._publish(*self._described)

    def reward(
        self, episode_id: EpisodeId, reward: float, done: bool, info: dict[str, Any] | None = None
    ) -> None:
        """Tell everybody a reward.

        Raises:
            ValueError: it is not a finite number.
        """
        self._publish(episode_id, checked_reward(reward, done, info))

    def text(self, episode_id: EpisodeId, text: object) -> None:
        """Tell everybody a text; any JSON."""
        self._publish(episode_id, Text(text))

    def env_observation(self, episode_id: EpisodeId, observation: object) -> None:
        """Tell everybody an observation other than pixels; any JSON."""
        self._publish(episode_id, EnvObservation(observation))

    def reply_reset(self, request: ResetRequest, episode_id: EpisodeId, checksum: int | None = None) -> None:
        """Answer a reset, to the client that asked if it is still there."""
        peer = self._peers.get(request.connection)
        if peer is not None:
            peer.session.reply_reset(request, episode_id, time.monotonic(), time.time(), checksum)
            self._flush(peer)

    def reply_step(self, request: StepRequest, episode_id: EpisodeId, checksum: int | None = None) -> None:
        """Answer a step, to the client that asked if it is still there."""
        peer = self._peers.get(request.connection)
        if peer is not None:
            peer.session.reply_step(request, episode_id, time.monotonic(), time.time(), checksum)
            self._flush(peer)

    def reply_call(self, request: CallRequest, reply: ReplyCall) -> None:
        """Answer a call, to the client that asked if it is still there.

        Raises:
            ValueError: the value is larger than a message may be.
        """
        peer = self._peers.get(request.connection)
        if peer is not None:
            peer.session.reply_call(request, reply, time.monotonic(), time.time())
            self._flush(peer)

    def reply_error(self, request: ClientRequest, message: str) -> None:
        """Refuse a request, to the client that asked if it is still there."""
        peer = self._peers.get(request.connection)
        if peer is not None:
            peer.session.reply_error(request, message, time.monotonic(), time.time())
            self._flush(peer)

    async def idle(self) -> None:
        """Wait until there has been no controller for `idle_timeout`; for ever when that is None."""
        await self._idle.over()

    async def close(self, code: int = 1001, reason: str = "") -> None:
        """Tell every client why, close every connection and stop listening; idempotent."""
        self._idle.stop()
        if self._server is None:
            return
        for peer in list(self._peers.values()):
            peer.session.say_goodbye(reason or "the rewarder is shutting down", time.time())
            self._flush(peer)
        self._server.close(code=code, reason=close_reason(reason))
        # A peer still at its upgrade would keep us waiting for its whole deadline.
        for websocket in list(self._websockets):
            if websocket.state is State.CONNECTING and hasattr(websocket, "transport"):
                websocket.transport.abort()
        await self._server.wait_closed()
        if self._drops:
            await asyncio.wait(self._drops)

    def _count(self, *, observer: bool) -> int:
        """Count open connections only: who is closing has let go, and may be back before its handler ends."""
        return sum(
            peer.session.observer is observer and peer.websocket.state is State.OPEN
            for peer in self._peers.values()
        )

    # The upgrade

    async def _process_request(self, websocket: ServerConnection, request: Request) -> Response | None:
        """Answer anything that is not to become a rewarder connection."""
        source = check_source(request.headers, self._hosts)
        if source != HTTPStatus.OK:
            return refused(websocket, source)
        path = urlsplit(request.path).path
        if path == "/healthz":
            return self._health_page(websocket)
        if self._site is not None and path.startswith(self._site.prefix):
            return await self._site.respond(websocket, request, lambda: self._admit(websocket, request))
        if path != "/":
            return refused(websocket, HTTPStatus.NOT_FOUND)
        status = await self._admit(websocket, request)
        return None if status == HTTPStatus.OK else refused(websocket, status)

    def _process_response(
        self, websocket: ServerConnection, request: Request, response: Response
    ) -> Response | None:
        if self._extras is not None:
            response.headers.update(self._extras.offer.headers())
        return response

    async def _admit(self, websocket: ServerConnection, request: Request) -> HTTPStatus:
        """Check the password of a request."""
        authorizations = request.headers.get_all("Authorization")
        if len(authorizations) > 1:
            return HTTPStatus.BAD_REQUEST
        return HTTPStatus(await self._auth.check(next(iter(authorizations), None), peer_address(websocket)))

    def _health_page(self, websocket: ServerConnection) -> Response:
        health: dict[str, object] = {"controllers": self.controllers, "observers": self.observers}
        if self._health is not None:
            health.update(self._health())
        response = websocket.respond(HTTPStatus.OK, json.dumps(health) + "\n")
        del response.headers["Content-Type"]
        response.headers["Content-Type"] = "application/json"
        response.headers["Cache-Control"] = "no-store"
        return response

    # Connections

    async def _serve_peer(self, websocket: ServerConnection) -> None:
        if self._site is not None and request_path(websocket).startswith(self._site.prefix):
            await self._site.serve(websocket)
            return
        observer = is_observer(websocket)
        refusal = self._refusal(observer)
        session = ServerSession(next(self._numbers), observer=observer, label=peer_label(websocket))
        peer = _Peer(websocket, session, self._wants(websocket))
        if refusal is not None:
            await self._turn_away(peer, *refusal)
            return
        self._join(peer)
        try:
            await self._listen(peer)
        finally:
            self._leave(peer)

    def _refusal(self, observer: bool) -> tuple[int, str] | None:
        if observer and self.observers >= self._limits.observers:
            return OVERLOADED, f"there are {self.observers} observers, the limit"
        if not observer and self.controllers:
            return BUSY, "another controller is active"
        return None

    async def _turn_away(self, peer: _Peer, code: int, reason: str) -> None:
        peer.session.say_goodbye(reason, time.time())
        self._flush(peer)
        await peer.websocket.close(code, reason)

    def _join(self, peer: _Peer) -> None:
        self._peers[peer.session.connection] = peer
        self._watch_idle()
        self._heed(peer)
        role = "observer" if peer.session.observer else "controller"
        request = peer.websocket.request
        version = None if request is None else peer_version(request.headers.get("User-Agent"))
        logger.info("%s = joined as %s, version %s", peer.session.label, role, version or "unknown")
        space = self._extras.env_observation_space if self._extras and ENV_OBSERVATION in peer.wants else None
        if space is not None:
            peer.session.tell(space, time.time())
        if self._described is not None:
            peer.session.publish(*self._described, time.time())
        self._flush(peer)

    def _leave(self, peer: _Peer) -> None:
        if self._peers.pop(peer.session.connection, None) is not None:
            logger.info("%s = left", peer.session.label)
            self._watch_idle()
            self._heed(peer)

    def _heed(self, changed: _Peer) -> None:
        """The environment does as its controller wants, and without one what it always does.

        A controller may be followed by the next before it has left here: the newest one counts.
        """
        if self._extras is not None and not changed.session.observer:
            wants = [peer.wants for peer in self._peers.values() if not peer.session.observer]
            self._extras.heed(wants[-1] if wants else frozenset())

    def _wants(self, websocket: ServerConnection) -> frozenset[str]:
        if self._extras is None or websocket.request is None:
            return frozenset()
        return wanted(websocket.request.headers) & self._extras.offer.features

    async def _listen(self, peer: _Peer) -> None:
        try:
            while True:
                self._receive(peer, await peer.websocket.recv())
        except ConnectionClosed:
            return
        except ProtocolError as error:
            logger.warning("%s ! %s", peer.session.label, error)
            await peer.websocket.close(error.code, close_reason(str(error)))

    def _receive(self, peer: _Peer, data: str | bytes) -> None:
        request = peer.session.receive(data, time.monotonic(), time.time())
        self._flush(peer)
        if isinstance(request, ResetRequest):
            self._on_reset(request)
        elif isinstance(request, ActionRequest) and self._on_action is not None:
            self._on_action(request.action, request.env_id)
        elif isinstance(request, StepRequest | CallRequest):
            if self._extras is not None:
                self._extras.handle(request, self)
            else:
                self.reply_error(request, "this remote offers nothing beyond v0")

    def _publish(self, episode_id: EpisodeId, message: Message) -> None:
        wall = time.time()
        for peer in list(self._peers.values()):
            peer.session.publish(episode_id, message, wall)
            self._flush(peer)

    def _flush(self, peer: _Peer) -> None:
        waiting = peer.websocket.transport.get_write_buffer_size()
        if waiting > self._limits.outgoing and peer.session.connection in self._peers:
            self._drop(peer, waiting)
        for frame in peer.session.data_to_send():
            broadcast([peer.websocket], frame)

    def _drop(self, peer: _Peer, waiting: int) -> None:
        """Part with a client that does not read; it has a moment for what waits, and for why."""
        logger.warning("%s ! does not read, %d bytes are waiting", peer.session.label, waiting)
        self._leave(peer)
        drop = asyncio.create_task(peer.websocket.close(OVERLOADED, "you do not read"))
        self._drops.add(drop)
        drop.add_done_callback(self._drops.discard)

    def _watch_idle(self) -> None:
        self._idle.tell(busy=self.controllers > 0)
