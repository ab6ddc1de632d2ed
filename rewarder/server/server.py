"""The remote's end: rewarder connections, a health page and the viewer's site on one port.

One client controls the remote, others observe it. Nothing here waits for a client: a message is written to all sockets
at once, and a client that does not read is dropped.
"""

from __future__ import annotations

import asyncio
import logging
import ssl
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from http import HTTPStatus
from itertools import count
from typing import Any
from urllib.parse import urlsplit
from weakref import WeakSet

from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response
from websockets.protocol import State

from rewarder.errors import BUSY, OVERLOADED, ProtocolError
from rewarder.protocol.episode import EpisodeId
from rewarder.protocol.features import ENV_OBSERVATION
from rewarder.protocol.messages import (
    Describe,
    EnvObservation,
    Message,
    ReplyCall,
    ReplyError,
    ReplyReset,
    ReplyStep,
    Text,
)
from rewarder.protocol.sessions import (
    ActionRequest,
    CallRequest,
    ResetRequest,
    StepRequest,
    WatchRequest,
    checked_reward,
    close_reason,
)
from rewarder.protocol.sessions import (
    Request as ClientRequest,
)
from rewarder.server.authenticator import Authenticator
from rewarder.server.idle import IdleWatch
from rewarder.server.peer import Peer, make_peer
from rewarder.server.upgrade import (
    Extras,
    ServerLimits,
    Site,
    check_source,
    json_page,
    may_share_memory,
    peer_address,
    refused,
    request_path,
    websocket_options,
)
from rewarder.version import peer_version

__all__ = ["ResetRequest", "RewarderServer", "ServerLimits", "Site"]

logger = logging.getLogger(__name__)


class RewarderServer:
    """A rewarder's WebSocket server, for one controller and several observers. Use it on the event loop's thread.

    Args:
        password: that clients must send; None accepts every client.
        on_reset: called with each reset. Answer it with `reply_reset` or `reply_error`.
        on_action: called with the events and the env id of each `v0.agent.action`.
        extras: the features beyond v0; None has none.
        health: returns entries of the health page.
        speed: returns the share of real time at which the environment runs, which replies to pings contain.
        idle_timeout: seconds without a controller after which `idle` returns; None is never.
        limits: on what clients may consume.
        authenticator: checks passwords; None makes one for `password`.
        site: further pages and WebSockets on the same port.
        hosts: host names that requests may have, besides addresses and `localhost`.
        step_ticket: returns the address of a step channel for one client; None has no step channels.

    Attributes:
        is_observed: whether there are observers. It may be read on any thread.
    """

    def __init__(
        self,
        *,
        password: str | None,
        on_reset: Callable[[ResetRequest], None],
        on_action: Callable[[Sequence[Sequence[Any]], str | None], None] | None = None,
        extras: Extras | None = None,
        health: Callable[[], Mapping[str, object]] | None = None,
        speed: Callable[[], float | None] = lambda: None,
        idle_timeout: float | None = None,
        limits: ServerLimits | None = None,
        authenticator: Authenticator | None = None,
        site: Site | None = None,
        hosts: Collection[str] = (),
        step_ticket: Callable[[], str] | None = None,
    ) -> None:
        self._on_reset = on_reset
        self._on_action = on_action
        self._extras = extras
        self._health = health
        self._speed = speed
        self._idle = IdleWatch(idle_timeout)
        self._limits = limits or ServerLimits()
        self._auth = authenticator or Authenticator(password)
        self._site = site
        self._hosts = frozenset(name.lower() for name in hosts)
        self._step_ticket = step_ticket
        self.is_observed = False
        self._peers: dict[int, Peer] = {}
        self._numbers = count(1)
        self._described: tuple[EpisodeId, Describe] | None = None
        self._server: Server | None = None
        self._websockets: WeakSet[ServerConnection] = WeakSet()
        self._drops: set[asyncio.Task[None]] = set()

    async def start(self, host: str = "127.0.0.1", port: int = 0, tls: ssl.SSLContext | None = None) -> None:
        """Listen.

        Args:
            host: an address of this machine.
            port: 0 picks a free one.
            tls: makes every connection use TLS.

        Raises:
            OSError: the port is in use, or `host` is not an address of this machine.
        """
        self._server = await serve(
            self._serve_peer,
            host,
            port,
            process_request=self._process_request,
            process_response=self._process_response,
            **websocket_options(self._websockets, self._limits, tls),
        )
        self._idle.update(busy=self.controllers > 0)

    @property
    def port(self) -> int:
        """The port that the server listens on.

        Raises:
            RuntimeError: it has not been started.
        """
        if self._server is None:
            raise RuntimeError("the rewarder server has not been started")
        return int(next(iter(self._server.sockets)).getsockname()[1])

    @property
    def controllers(self) -> int:
        """Number of connected controllers, 0 or 1."""
        return self._count(observer=False)

    @property
    def observers(self) -> int:
        """Number of connected observers."""
        return self._count(observer=True)

    def describe(self, episode_id: EpisodeId, state: Describe) -> None:
        """Send an episode's state to all clients, and to each that connects later."""
        self._described = (episode_id, state)
        self._publish(*self._described)

    def reward(
        self, episode_id: EpisodeId, reward: float, done: bool, info: dict[str, Any] | None = None
    ) -> None:
        """Send a reward to all clients.

        Args:
            episode_id: the episode.
            reward: since the last one.
            done: whether it is the episode's last.
            info: JSON values for the agent.

        Raises:
            ValueError: `reward` is not a finite number.
        """
        self._publish(episode_id, checked_reward(reward, done, info))

    def text(self, episode_id: EpisodeId, text: object) -> None:
        """Send a text, any JSON value, to all clients."""
        self._publish(episode_id, Text(text))

    def env_observation(self, episode_id: EpisodeId, observation: object) -> None:
        """Send an environment observation, any JSON value, to all clients."""
        self._publish(episode_id, EnvObservation(observation))

    def reply_reset(self, request: ResetRequest, episode_id: EpisodeId, checksum: int | None = None) -> None:
        """Reply to a reset. No effect if its client has disconnected."""
        self._reply(request, ReplyReset(checksum), episode_id)

    def reply_step(self, request: StepRequest, episode_id: EpisodeId, checksum: int | None = None) -> None:
        """Reply to a step. No effect if its client has disconnected."""
        self._reply(request, ReplyStep(checksum), episode_id)

    def reply_call(self, request: CallRequest, reply: ReplyCall) -> None:
        """Reply to a call. No effect if its client has disconnected.

        Raises:
            ValueError: the value is too large for a message.
        """
        self._reply(request, reply)

    def reply_error(self, request: ClientRequest, message: str) -> None:
        """Reply to a request with an error. No effect if its client has disconnected."""
        self._reply(request, ReplyError(message))

    def tell(self, connection: int, episode_id: EpisodeId, message: Message) -> bool:
        """Send a message to one client; return whether it is connected."""
        if peer := self._peers.get(connection):
            peer.session.send(message, time.time(), episode_id)
            self._flush(peer)
        return peer is not None

    def _reply(self, request: ClientRequest, message: Message, episode_id: EpisodeId | None = None) -> None:
        peer = self._peers.get(request.connection)
        if peer is not None:
            peer.session.reply(request, message, time.monotonic(), time.time(), episode_id)
            self._flush(peer)

    async def idle(self) -> None:
        """Wait until no controller has been connected for `idle_timeout` seconds."""
        await self._idle.over()

    async def close(self, code: int = 1001, reason: str = "") -> None:
        """Send all clients the reason, close their connections and stop listening. Idempotent.

        Args:
            code: of the WebSocket close frame.
            reason: in words.
        """
        self._idle.stop()
        if self._server is None:
            return
        for peer in list(self._peers.values()):
            peer.session.announce_close(reason or "the rewarder is shutting down", time.time())
            self._flush(peer)
        self._server.close(code=code, reason=close_reason(reason))
        # `wait_closed` would wait for clients in their upgrade until their deadline.
        for websocket in list(self._websockets):
            if websocket.state is State.CONNECTING and hasattr(websocket, "transport"):
                websocket.transport.abort()
        await self._server.wait_closed()
        if self._drops:
            await asyncio.wait(self._drops)

    def _count(self, *, observer: bool) -> int:
        """Count open connections. A closing one does not count: its client may reconnect before its handler ends."""
        return sum(peer.session.observer is observer and peer.is_open for peer in self._peers.values())

    # The upgrade

    async def _process_request(self, websocket: ServerConnection, request: Request) -> Response | None:
        """Answer a request; return None if it may become a rewarder connection."""
        source = check_source(request.headers, self._hosts)
        if source != HTTPStatus.OK:
            return refused(websocket, source)
        path = urlsplit(request.path).path
        if path == "/healthz":
            own = {"controllers": self.controllers, "observers": self.observers}
            return json_page(websocket, {**own, **(self._health() if self._health is not None else {})})
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
            offer = self._extras.offer
            if self._step_ticket is not None and may_share_memory(websocket, request):
                offer = replace(offer, steps=self._step_ticket())
            response.headers.update(offer.headers())
        return response

    async def _admit(self, websocket: ServerConnection, request: Request) -> HTTPStatus:
        """Return the status that the password of a request results in."""
        authorizations = request.headers.get_all("Authorization")
        if len(authorizations) > 1:
            return HTTPStatus.BAD_REQUEST
        return HTTPStatus(await self._auth.check(next(iter(authorizations), None), peer_address(websocket)))

    # Connections

    async def _serve_peer(self, websocket: ServerConnection) -> None:
        if self._site is not None and request_path(websocket).startswith(self._site.prefix):
            await self._site.serve(websocket)
            return
        peer = make_peer(websocket, next(self._numbers), self._extras)
        refusal = self._refusal(peer.session.observer)
        if refusal is not None:
            await peer.turn_away(*refusal)
            return
        self._join(peer)
        try:
            await self._listen(peer)
        finally:
            self._leave(peer)

    def _refusal(self, observer: bool) -> tuple[int, str] | None:
        if observer and self.observers >= self._limits.observers:
            return OVERLOADED, f"{self.observers} observers are connected, which is the limit"
        if not observer and self.controllers:
            return BUSY, "another controller is active"
        return None

    def _join(self, peer: Peer) -> None:
        self._peers[peer.session.connection] = peer
        self._update_roles(peer)
        role = "observer" if peer.session.observer else "controller"
        request = peer.websocket.request
        version = None if request is None else peer_version(request.headers.get("User-Agent"))
        logger.info("%s = joined as %s, version %s", peer.session.label, role, version or "unknown")
        space = self._extras.env_observation_space if self._extras and ENV_OBSERVATION in peer.wants else None
        if space is not None:
            peer.session.send(space, time.time())
        if self._described is not None:
            peer.session.send(self._described[1], time.time(), self._described[0])
        self._flush(peer)

    def _leave(self, peer: Peer) -> None:
        if self._peers.pop(peer.session.connection, None) is not None:
            logger.info("%s = left", peer.session.label)
            self._update_roles(peer)

    def _update_roles(self, changed: Peer) -> None:
        """Note whether there are controllers and observers; activate the features that the controller wants, if any.

        The newest controller counts: it may connect before the handler of the last one ends.
        """
        self.is_observed = self.observers > 0
        self._idle.update(busy=self.controllers > 0)
        if self._extras is not None and not changed.session.observer:
            wants = [peer.wants for peer in self._peers.values() if not peer.session.observer]
            self._extras.activate(wants[-1] if wants else frozenset())

    async def _listen(self, peer: Peer) -> None:
        try:
            while True:
                self._receive(peer, await peer.websocket.recv())
        except ConnectionClosed:
            return
        except ProtocolError as error:
            logger.warning("%s ! %s", peer.session.label, error)
            await peer.websocket.close(error.code, close_reason(str(error)))

    def _receive(self, peer: Peer, data: str | bytes) -> None:
        peer.session.speed = self._speed()
        request = peer.session.receive(data, time.monotonic(), time.time())
        self._flush(peer)
        if isinstance(request, ResetRequest):
            self._on_reset(request)
        elif isinstance(request, ActionRequest) and self._on_action is not None:
            self._on_action(request.action, request.env_id)
        elif isinstance(request, StepRequest | CallRequest | WatchRequest):
            if self._extras is not None:
                self._extras.handle(request, self)
            else:
                self.reply_error(request, "this remote has no features beyond v0")

    def tell_observers(self, messages: Sequence[tuple[EpisodeId, Message]]) -> None:
        """Send observers what the controlling client has received over its step channel."""
        for episode_id, message in messages:
            if isinstance(message, Describe):
                self._described = episode_id, message
            self._publish(episode_id, message, to_controller=False)

    def _publish(self, episode_id: EpisodeId, message: Message, to_controller: bool = True) -> None:
        for connection, peer in list(self._peers.items()):
            if to_controller or peer.session.observer:
                self.tell(connection, episode_id, message)

    def _flush(self, peer: Peer) -> None:
        if peer.unsent > self._limits.outgoing and peer.session.connection in self._peers:
            self._drop(peer)
        peer.flush()

    def _drop(self, peer: Peer) -> None:
        """Close the connection of a client that does not read, after the close timeout."""
        logger.warning("%s ! does not read, %d bytes are unsent", peer.session.label, peer.unsent)
        self._leave(peer)
        drop = asyncio.create_task(peer.websocket.close(OVERLOADED, "the client does not read"))
        self._drops.add(drop)
        drop.add_done_callback(self._drops.discard)
