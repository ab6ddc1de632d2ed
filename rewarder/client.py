"""The agent's end of a rewarder connection: asyncio and websockets around `ClientSession`.

All code here runs on the event loop's thread. It shares only the `RewardBuffer` with the agent's thread.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

from websockets.asyncio.client import ClientConnection
from websockets.asyncio.client import connect as websocket_connect
from websockets.asyncio.connection import broadcast
from websockets.exceptions import ConnectionClosed, InvalidStatus, WebSocketException

from rewarder.certificates import HANDSHAKE_ERRORS, Trust, checked
from rewarder.credentials import authorization, wire_logger
from rewarder.errors import (
    BUSY,
    CRASHED,
    ENDED_BY_PEER,
    NOT_AUTHORISED,
    PEER_VANISHED,
    AuthError,
    ConnectError,
    ControllerBusy,
    PeerLost,
    ProtocolError,
    ResetRejected,
    RewarderError,
)
from rewarder.protocol.buffer import RewardBuffer
from rewarder.protocol.clock import ClockSync
from rewarder.protocol.codec import MAX_FRAME
from rewarder.protocol.features import Offer, want
from rewarder.protocol.messages import (
    Action,
    Call,
    Envelope,
    EnvObservationSpace,
    Message,
    ReplyPing,
    Reset,
    Step,
    WatchInput,
)
from rewarder.protocol.sessions import ClientSession, close_reason
from rewarder.version import PRODUCT_TOKEN, peer_version

logger = logging.getLogger(__name__)

DEFAULT_PORT = 15900
MAX_OUTGOING = 256 * 1024
"""Unsent bytes beyond which a rewarder that does not read counts as lost."""
BURST = 5
"""Pings at the start of a connection, each sent at the reply to the last, to calibrate the clock quickly."""


@dataclass(frozen=True, slots=True)
class RewarderAddress:
    """The address of a rewarder, and how to log in.

    Attributes:
        host: a name or an IP address.
        port: of the WebSocket.
        password: sent in the upgrade request; None sends none.
        tls: checks the server's certificate before the password is sent; None connects without TLS.
    """

    host: str
    port: int = DEFAULT_PORT
    password: str | None = field(default=None, repr=False)
    tls: Trust | None = None

    def __str__(self) -> str:
        """Return `host:port`, with brackets around an IPv6 address and without the password."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


@dataclass(frozen=True, slots=True)
class RewarderTimeouts:
    """Deadlines of a rewarder connection, in seconds.

    Attributes:
        open: for TCP connection, TLS handshake and upgrade together.
        ping_interval: between two WebSocket pings.
        ping_timeout: for the reply. A silent peer is lost after `ping_interval + ping_timeout`.
        close: for the closing handshake.
        clock_interval: between two `v0.control.ping`, which measure the clock.
    """

    open: float = 10.0
    ping_interval: float = 5.0
    ping_timeout: float = 10.0
    close: float = 2.0
    clock_interval: float = 1.0


class _Connect(websocket_connect):
    """A connection that follows no redirect, because the password is for the given address only."""

    def process_redirect(self, exc: Exception) -> Exception | str:
        return exc


class RewarderClient:
    """One connection to a rewarder. It does not reconnect; `closed` returns when it ends."""

    def __init__(
        self,
        websocket: ClientConnection,
        session: ClientSession,
        *,
        on_message: Callable[[Envelope], object] | None,
        timeouts: RewarderTimeouts,
    ) -> None:
        self._websocket = websocket
        self._session = session
        self._on_message = on_message
        self._timeouts = timeouts
        self._error: RewarderError | None = None
        self._closing = False
        self._ping_timer: asyncio.TimerHandle | None = None
        self._ping()
        self._task = asyncio.create_task(self._run(), name=f"rewarder {session.label}")

    @classmethod
    async def connect(
        cls,
        address: RewarderAddress,
        *,
        buffer: RewardBuffer,
        on_message: Callable[[Envelope], object] | None = None,
        observer: bool = False,
        wants: Collection[str] = (),
        timeouts: RewarderTimeouts | None = None,
        label: str = "",
    ) -> RewarderClient:
        """Connect and start reading.

        Args:
            address: the rewarder and its password.
            buffer: receives episodes; it may have served earlier connections. Its owner calls `disconnected` at the
                end of this connection, with the reason.
            on_message: called on the loop's thread after each message, when the buffer contains it already.
            observer: receive everything, but control nothing.
            wants: features of `rewarder.protocol.features`; only those in `offer` become active.
            timeouts: deadlines of opening, liveness and close.
            label: the name of this remote in logs; its address by default.

        Raises:
            ConnectError: no server listens there, or it is not a rewarder.
            AuthError: the password is refused; with TLS, the certificate is not trusted or the server has no TLS.
        """
        timeouts = timeouts or RewarderTimeouts()
        websocket = await _open(address, observer, wants, timeouts)
        session = ClientSession(buffer, label or str(address))
        return cls(websocket, session, on_message=on_message, timeouts=timeouts)

    @property
    def clock(self) -> ClockSync:
        """Skew and round trip of this connection."""
        return self._session.clock

    @property
    def speed(self) -> float | None:
        """The share of real time at which the environment runs, 0 to 1; None while unknown, and in lock-step."""
        return self._session.speed

    @property
    def error(self) -> RewarderError | None:
        """Why the connection ended; None while it is open."""
        return self._error

    @property
    def reset_error(self) -> ResetRejected | None:
        """The error that answered the latest reset, if any."""
        return self._session.reset_error

    @property
    def remote_version(self) -> str | None:
        """The rewarder's version; None if it is not this package's."""
        response = self._websocket.response
        return None if response is None else peer_version(response.headers.get("Server"))

    @property
    def offer(self) -> Offer:
        """The features beyond v0 that the rewarder announced."""
        response = self._websocket.response
        return Offer() if response is None else Offer.read(response.headers)

    @property
    def env_observation_space(self) -> EnvObservationSpace | None:
        """The space of environment observations, once it is received."""
        return self._session.env_observation_space

    def reset(self, reset: Reset) -> int:
        """Send `v0.env.reset`; return its message id. No effect on a connection that has ended."""
        message_id = self._session.reset(reset, time.time())
        self._flush()
        return message_id

    def step(self, step: Step) -> int:
        """Send `v1.env.step`; return its message id. No effect on a connection that has ended."""
        return self._send(step)

    def call(self, call: Call) -> int:
        """Send `v1.env.call`; return its message id. No effect on a connection that has ended.

        Raises:
            ValueError: the arguments are too large for a message.
        """
        return self._send(call)

    def action(self, env_id: str | None, action: Sequence[Sequence[Any]]) -> None:
        """Send `v0.agent.action`. No effect on a connection that has ended."""
        self._send(Action(env_id, list(action)))

    def watch_input(self, mark: int) -> None:
        """Send `v1.env.watch_input`. No effect on a connection that has ended."""
        self._send(WatchInput(mark))

    def _send(self, message: Message) -> int:
        message_id = self._session.send(message, time.time())
        self._flush()
        return message_id

    async def closed(self) -> RewarderError:
        """Wait until the connection ends; return why."""
        await asyncio.shield(self._task)
        return self._error or PeerLost(PEER_VANISHED)

    async def close(self) -> None:
        """Close the connection, within `RewarderTimeouts.close`; idempotent."""
        self._closing = True
        await self._websocket.close()
        await asyncio.shield(self._task)

    async def _run(self) -> None:
        error: RewarderError = PeerLost(PEER_VANISHED, "the reader stopped")
        try:
            while True:
                self.receive(await self._websocket.recv())
        except ConnectionClosed as closed:
            error = self._reason(closed)
        except ProtocolError as broken:
            logger.warning("%s ! %s", self._session.label, broken)
            error = broken
        finally:
            self._over(error)
            if not isinstance(error, ProtocolError):
                self._websocket.transport.abort()
        if isinstance(error, ProtocolError):
            await self._websocket.close(error.code, close_reason(str(error)))

    def receive(self, data: str | bytes) -> None:
        """Process a message, also one that has come over a step channel.

        Raises:
            ProtocolError: it is invalid.
        """
        envelope = self._session.receive(data, time.monotonic(), time.time())
        if envelope is None:
            return
        if isinstance(envelope.message, ReplyPing) and self.clock.samples < BURST:
            self._ping()
        if self._on_message is not None:
            self._on_message(envelope)

    def _over(self, error: RewarderError) -> None:
        self._error = self._error or error
        if self._ping_timer is not None:
            self._ping_timer.cancel()
        logger.info("%s = closed: %s", self._session.label, self._error)

    def _ping(self) -> None:
        """Send a ping now, and the next one after the interval, with or without a reply."""
        if self._error is not None:
            return
        if self._ping_timer is not None:
            self._ping_timer.cancel()
        loop = asyncio.get_running_loop()
        self._ping_timer = loop.call_later(self._timeouts.clock_interval, self._ping)
        self._session.ping(time.monotonic(), time.time())
        self._flush()

    def _flush(self) -> None:
        for frame in self._session.data_to_send():
            broadcast([self._websocket], frame)
        waiting = self._websocket.transport.get_write_buffer_size()
        if waiting > MAX_OUTGOING and self._error is None:
            self._error = PeerLost(PEER_VANISHED, f"the peer does not read, {waiting} bytes are unsent")
            self._websocket.transport.abort()

    def _reason(self, closed: ConnectionClosed) -> RewarderError:
        """Return why the connection ended: which side closed it, and with which code."""
        if self._closing:
            return PeerLost(ENDED_BY_PEER, "closed by us")
        received, sent = closed.rcvd, closed.sent
        if received is not None and (sent is None or closed.rcvd_then_sent):
            return _closed_by_peer(received.code, self._session.closing or received.reason)
        if sent is not None and sent.code in (1002, 1003, 1007, 1009):
            return ProtocolError(sent.reason or "invalid websocket data", sent.code)
        if sent is not None and sent.code == CRASHED:
            return PeerLost(PEER_VANISHED, f"no pong within {self._timeouts.ping_timeout:g} s")
        return PeerLost(PEER_VANISHED, self._session.closing or "connection lost")


def _closed_by_peer(code: int, reason: str) -> RewarderError:
    if code == NOT_AUTHORISED:
        return AuthError(reason or "not authorised")
    if code == BUSY:
        return ControllerBusy(reason or "another controller is active")
    # 1005 is a close frame without a code.
    return PeerLost(ENDED_BY_PEER if code == 1005 else code, reason)


async def _open(
    address: RewarderAddress, observer: bool, wants: Collection[str], timeouts: RewarderTimeouts
) -> ClientConnection:
    headers = {"openai-observer": "true" if observer else "false"} | want(wants)
    if address.password is not None:
        headers["authorization"] = authorization(address.password)
    try:
        return await _Connect(
            f"{'ws' if address.tls is None else 'wss'}://{address}/",
            **_over_tls(address),
            additional_headers=headers,
            user_agent_header=PRODUCT_TOKEN,
            compression=None,
            proxy=None,
            max_size=MAX_FRAME,
            open_timeout=timeouts.open,
            ping_interval=timeouts.ping_interval,
            ping_timeout=timeouts.ping_timeout,
            close_timeout=timeouts.close,
            logger=wire_logger("rewarder.wire.client"),
        )
    except TimeoutError:
        with_tls = "" if address.tls is None else ", TLS included"
        raise ConnectError(f"{address}: not open within {timeouts.open:g} s{with_tls}") from None
    except OSError as error:
        if address.tls is not None and isinstance(error, HANDSHAKE_ERRORS):
            kind = ConnectError if address.tls.is_cut_off(error) else AuthError
            raise kind(f"{address}: {address.tls.refusal(error)}") from error
        raise ConnectError(f"{address}: {error.strerror or error}") from error
    except InvalidStatus as error:
        raise _refused(address, error.response.status_code) from None
    except (WebSocketException, ValueError) as error:
        raise ConnectError(f"{address}: not a rewarder: {error}") from error


def _over_tls(address: RewarderAddress) -> dict[str, Any]:
    if address.tls is None:
        return {}
    if address.tls.insecure:
        logger.warning("! %s: the identity of the server is not checked (insecure)", address)
    try:
        return {"ssl": address.tls.context(), "create_connection": checked(address.tls, str(address))}
    except ValueError as error:
        raise AuthError(f"{address}: {error}") from error


def _refused(address: RewarderAddress, status: int) -> RewarderError:
    if status == 401:
        return AuthError(f"{address}: http status 401, the password is refused")
    if status == 403:
        return AuthError(
            f"{address}: http status 403, the server does not allow this host name (see --allow-host) or the password"
        )
    if 300 <= status < 400:
        return ConnectError(f"{address}: http status {status}, redirects are not followed")
    return ConnectError(f"{address}: http status {status}")
