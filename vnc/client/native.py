"""The native driver: sessions of the Rust core, whose threads read and decode without the GIL."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Self

from vnc import _core
from vnc.client.dial import resolve
from vnc.client.home import Home
from vnc.client.hub import Hub, Opening
from vnc.client.shared import share
from vnc.client.taps import NativeTap
from vnc.client.timed import LoopPlan
from vnc.client.wire import NOT_CHECKED, Wire
from vnc.encodings import SHARED_FRAMES, is_this_host, preference
from vnc.errors import (
    AuthError,
    ConnectError,
    LimitExceeded,
    PeerLost,
    ProtocolError,
    TooManyFailures,
    VNCError,
    unreachable,
)
from vnc.events import Event, TimedEvents, encode
from vnc.pixels.reduction import Reduction
from vnc.session import Frame, Limits, PixelsBy, SessionStats, Timeouts, VNCAddress
from vnc.tls import TLS

logger = logging.getLogger(__name__)


class _UnsupportedTLS(AuthError):
    """The core's TLS does not support what the server does; OpenSSL may."""


_ERRORS: dict[str, type[VNCError]] = {
    "auth": AuthError,
    "connect": ConnectError,
    "limit": LimitExceeded,
    "locked": TooManyFailures,
    "lost": PeerLost,
    "protocol": ProtocolError,
    "unsupported": _UnsupportedTLS,
}


async def connect(
    address: VNCAddress,
    *,
    on_change: Callable[[], Any],
    limits: Limits = Limits(),  # noqa: B008  (frozen)
    timeouts: Timeouts = Timeouts(),  # noqa: B008
    encodings: Sequence[int] | None = None,
) -> NativeSession:
    """Open a session; see `vnc.session.Connect`."""
    if encodings is None:
        encodings = preference("auto", None, address.host)
    settings = address, on_change, limits, timeouts, encodings
    if address.tls is None:
        return await _connect(None, *settings)
    trust = _trust(address.host, address.tls)
    if trust is not None:
        try:
            return await _connect(trust, *settings)
        except _UnsupportedTLS as error:
            logger.info("! %s: %s", address, error)
    return await _connect_on_loop(address.tls, *settings)


def _trust(host: str, tls: TLS) -> _core.Trust | None:
    """Return the settings of TLS in the core; None if only OpenSSL can use them, or say what is wrong with them."""
    try:
        name = host.encode("idna").decode()
        if tls.insecure or tls.fingerprint is not None:
            return _core.Trust(name, tls.fingerprint)
        return _core.Trust(name, authorities=tls.authorities())
    except (OSError, ValueError):
        return None


async def _connect(
    trust: _core.Trust | None,
    address: VNCAddress,
    on_change: Callable[[], Any],
    limits: Limits,
    timeouts: Timeouts,
    encodings: Sequence[int],
) -> NativeSession:
    """Open a session whose socket the core reads."""
    deadline = time.monotonic() + timeouts.connect
    hosts = await _resolve(address, timeouts)
    failures: list[ConnectError] = []
    for number, host in enumerate(hosts):
        left = max(deadline - time.monotonic(), 0.0) / (len(hosts) - number)
        opening = partial(_open, address, host, trust, list(encodings), limits, timeouts, left)
        try:
            session = NativeSession(address, on_change, opening, timeouts)
        except ConnectError as error:
            failures.append(error)
            continue
        try:
            return await session._established()
        except ConnectError as error:
            if session._core.connected:  # a server answered: do not try another address of the host
                raise
            failures.append(error)
        finally:
            if address.tls is not None and address.tls.insecure and session._core.certificate:
                logger.warning(NOT_CHECKED, address)
    raise ConnectError("; ".join(dict.fromkeys(map(str, failures))))


def _open(
    address: VNCAddress,
    host: tuple[str, int],
    trust: _core.Trust | None,
    encodings: list[int],
    limits: Limits,
    timeouts: Timeouts,
    seconds: float,
    pump: _core.Pump,
) -> _core.Session:
    if trust is not None or not is_this_host(host[0]):
        encodings = _without_shared_frames(encodings)
    login = _login(address)
    deadlines = (seconds, *_deadlines(timeouts))
    return pump.open(host[0], address.port, host[1], trust, *login, encodings, _bounds(limits), deadlines)


async def _connect_on_loop(
    tls: TLS,
    address: VNCAddress,
    on_change: Callable[[], Any],
    limits: Limits,
    timeouts: Timeouts,
    encodings: Sequence[int],
) -> NativeSession:
    """Open a session whose bytes the event loop moves through OpenSSL."""
    wire = await Wire.open(address, timeouts.connect)

    def feed(pump: _core.Pump) -> _core.Session:
        return pump.feed(
            tls.insecure,
            *_login(address),
            _without_shared_frames(encodings),
            _bounds(limits),
            (timeouts.connect, *_deadlines(timeouts)),
        )

    try:
        session = NativeSession(address, on_change, feed, timeouts, wire.flush)
    except BaseException:
        wire.abort()
        raise
    try:
        wire.attach(session._core)
        await wire.start_tls(tls)
    except BaseException:
        await session.close()
        raise
    return await session._established()


def _without_shared_frames(encodings: Sequence[int]) -> list[int]:
    """Return what to request of a server that may be on another host: its offer would name a path of this one."""
    return [number for number in encodings if number != SHARED_FRAMES]


def _login(address: VNCAddress) -> tuple[bytes | None, bytes | None]:
    """Return user name and password as the core takes them."""
    if address.username is not None:
        return address.username.encode(), (address.password or "").encode()
    return None, None if address.password is None else address.password.encode("latin-1", "replace")


def _bounds(limits: Limits) -> tuple[int, int, int, int, int]:
    return (
        limits.framebuffer_width,
        limits.framebuffer_height,
        limits.text,
        limits.cut_text,
        limits.outgoing,
    )


def _deadlines(timeouts: Timeouts) -> tuple[float, float, float, float]:
    return timeouts.handshake, timeouts.update, timeouts.probe_interval, timeouts.probe_deadline


async def _resolve(address: VNCAddress, timeouts: Timeouts) -> list[tuple[str, int]]:
    """Return the numeric addresses of a host, each with the scope of a link-local IPv6 address, else 0."""
    try:
        async with asyncio.timeout(timeouts.connect):
            found = await resolve(address.host, address.port)
    except TimeoutError:
        raise ConnectError(f"{address}: no address within {timeouts.connect:g} s") from None
    except (OSError, UnicodeError, RuntimeError) as error:  # RuntimeError: no thread can be started
        raise unreachable(address, error) from error
    return list(dict.fromkeys(_numeric(*sockaddr) for *_, sockaddr in found))


def _numeric(host: str, port: int, flow: int = 0, scope: int = 0) -> tuple[str, int]:
    """Return the parts of a socket address that `_core.Pump.open` takes."""
    return host, scope


class NativeSession:
    """A `vnc.session.Session` of the Rust core, which also owns the socket of a session without TLS."""

    def __init__(
        self,
        address: VNCAddress,
        on_change: Callable[[], Any],
        opening: Opening,
        timeouts: Timeouts,
        flush: Callable[[], object] | None = None,
    ) -> None:
        """Start to connect.

        Args:
            address, on_change, timeouts: as for `connect`.
            opening: opens the session of the core.
            flush: writes the bytes of a session whose bytes the event loop moves; None for the others.

        Raises:
            ConnectError: the system refuses: no route, no descriptors, no threads.
        """
        self.address = address
        self._on_change = on_change
        self._timeouts = timeouts
        self._flush = flush or (lambda: None)
        self._loop_plan = None if flush is None else LoopPlan(self._send_on_loop)
        self._sharing: asyncio.Task[None] | None = None  # fetches the memory of shared frames
        self._done = asyncio.Event()  # the handshake succeeded or failed
        self._announced = False
        self._home = Home().enter()
        self._hub: Hub | None
        try:
            self._hub, self._core = Hub.open(opening, self._changed)
        except OSError as error:
            raise unreachable(address, error) from error

    async def _established(self) -> Self:
        """Wait for the end of the handshake; close the session if it fails."""
        try:
            await self._done.wait()
            if self.error is not None and not self._core.ready:
                raise self.error
        except BaseException:
            await self.close()
            raise
        self._announced = True
        return self

    def _changed(self) -> None:
        self._flush()
        if self._core.ready or self._core.error is not None:
            self._done.set()
        if self._announced:
            self._on_change()
        if self._core.error is not None:
            self._leave()
        elif self._sharing is None and (offer := self._core.offer) is not None:
            sharing = share(self._core, offer, self.address, self._timeouts.connect)
            self._sharing = asyncio.create_task(sharing, name=f"vnc {self.address} shared frames")

    def _leave(self) -> None:
        """Release the hub, which holds descriptors and threads."""
        if self._hub is not None:
            self._hub.forget(self._core)
            self._hub = None
        if self._sharing is not None:
            self._sharing.cancel()

    @property
    def shape(self) -> tuple[int, int, int]:
        """See `vnc.session.Session.shape`."""
        return self._core.shape

    @property
    def name(self) -> str:
        """See `vnc.session.Session.name`."""
        return self._core.name

    @property
    def frames(self) -> int:
        """See `vnc.session.Session.frames`."""
        return self._core.frames

    @property
    def frame_time(self) -> float:
        """See `vnc.session.Session.frame_time`."""
        return self._core.frame_time

    @property
    def generation(self) -> int:
        """See `vnc.session.Session.generation`."""
        return self._core.generation

    @property
    def error(self) -> VNCError | None:
        """See `vnc.session.Session.error`."""
        failure = self._core.error
        if failure is None:
            return None
        kind, text = failure
        return _ERRORS[kind](f"{self.address}: {text}")

    @property
    def pixels_by(self) -> PixelsBy:
        """See `vnc.session.Session.pixels_by`."""
        return "shared" if self._core.shares else "vnc"

    @property
    def more_buttons(self) -> bool:
        """See `vnc.session.Session.more_buttons`."""
        return self._core.more_buttons

    @property
    def stats(self) -> SessionStats:
        """See `vnc.session.Session.stats`."""
        return SessionStats(*self._core.stats)

    def refresh(self) -> int:
        """See `vnc.session.Session.refresh`."""
        return self._core.refresh()

    def listen(self, listens: bool) -> bool:
        """See `vnc.session.Session.listen`."""
        return self._core.listen(listens)

    def next_look(self, look: float) -> None:
        """See `vnc.session.Session.next_look`; a native thread requests the update."""
        self._core.next_look(look)

    def take(self, out: Frame, reduction: Reduction | None = None) -> int:
        """See `vnc.session.Session.take`; copies or draws only what changed since the last take into `out`."""
        return self._core.take(out) if reduction is None else self._core.take(out, reduction.native)

    def tap(self, limit: int) -> NativeTap:
        """See `vnc.session.Session.tap`; a reader thread copies the frames, without the GIL."""
        return NativeTap(self._core.tap(limit))

    def send(self, events: Sequence[Event]) -> None:
        """See `vnc.session.Session.send`; the calling thread writes to the socket."""
        if events:
            self._core.send(encode(events, self._core.more_buttons))

    def _send_on_loop(self, events: Sequence[Event]) -> None:
        self.send(events)
        self._flush()

    def plan(self, since: float, timed: Sequence[TimedEvents]) -> int:
        """See `vnc.session.Session.plan`."""
        if self._loop_plan is not None:
            return self._loop_plan.replace(since, timed)
        more = self._core.more_buttons
        return self._core.plan(since, [(at, encode(events, more)) for at, events in timed])

    def played(self) -> list[float]:
        """See `vnc.session.Session.played`."""
        return self._core.played() if self._loop_plan is None else self._loop_plan.played()

    async def close(self) -> None:
        """See `vnc.session.Session.close`."""
        if self._home.is_elsewhere:
            return
        self._core.close()
        self._flush()
        self._leave()
        if self._sharing is not None:
            await asyncio.wait([self._sharing])
        if self._announced:
            self._announced = False
            self._on_change()
