"""The native driver: sessions of the Rust core, whose threads read and decode without the GIL."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, ClassVar, Self
from weakref import WeakKeyDictionary

from vnc import _core
from vnc.client.dial import resolve
from vnc.client.home import Home
from vnc.client.shared import share
from vnc.client.taps import NativeTap
from vnc.client.timed import LoopPlan
from vnc.client.wire import Wire
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

_ERRORS: dict[str, type[VNCError]] = {
    "auth": AuthError,
    "connect": ConnectError,
    "limit": LimitExceeded,
    "locked": TooManyFailures,
    "lost": PeerLost,
    "protocol": ProtocolError,
}
_MOST_THREADS = 4

Opening = Callable[[_core.Pump], _core.Session]
"""Opens one session on a pump."""


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
    if address.tls is not None:
        return await _connect_over_tls(address, address.tls, on_change, limits, timeouts, encodings)
    deadline = time.monotonic() + timeouts.connect
    hosts = await _resolve(address, timeouts)
    failures: list[ConnectError] = []
    for number, host in enumerate(hosts):
        left = max(deadline - time.monotonic(), 0.0) / (len(hosts) - number)
        opening = partial(_open, address, host, list(encodings), limits, timeouts, left)
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
    raise ConnectError("; ".join(dict.fromkeys(map(str, failures))))


def _open(
    address: VNCAddress,
    host: tuple[str, int],
    encodings: list[int],
    limits: Limits,
    timeouts: Timeouts,
    seconds: float,
    pump: _core.Pump,
) -> _core.Session:
    password = _vnc_password(address)
    if not is_this_host(host[0]):
        encodings = _without_shared_frames(encodings)
    deadlines = (seconds, *_deadlines(timeouts))
    return pump.open(host[0], address.port, host[1], password, encodings, _bounds(limits), deadlines)


async def _connect_over_tls(
    address: VNCAddress,
    tls: TLS,
    on_change: Callable[[], Any],
    limits: Limits,
    timeouts: Timeouts,
    encodings: Sequence[int],
) -> NativeSession:
    wire = await Wire.open(address, timeouts.connect)

    def feed(pump: _core.Pump) -> _core.Session:
        return pump.feed(
            tls.insecure,
            None if address.username is None else address.username.encode(),
            _vnc_password(address) if address.username is None else (address.password or "").encode(),
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


def _vnc_password(address: VNCAddress) -> bytes | None:
    return None if address.password is None else address.password.encode("latin-1", "replace")


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


class _Hub:
    """The pump of one event loop; it exists as long as the loop has sessions."""

    _of_loop: ClassVar[WeakKeyDictionary[asyncio.AbstractEventLoop, _Hub]] = WeakKeyDictionary()

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.pump = _core.Pump(min(_MOST_THREADS, os.cpu_count() or 1))
        self._loop = loop
        self._sessions: dict[int, Callable[[], Any]] = {}
        self._of_loop[loop] = self
        try:
            loop.add_reader(self.pump.fileno(), self._news)
        except BaseException:
            self._close()
            raise

    @classmethod
    def open(cls, opening: Opening, changed: Callable[[], Any]) -> tuple[_Hub, _core.Session]:
        """Open a session on the pump of the running loop, which calls `changed` when the session's state changes.

        Raises:
            OSError: the system refuses; no pump remains without a session.
        """
        loop = asyncio.get_running_loop()
        hub = cls._of_loop.get(loop) or cls(loop)
        try:
            session = opening(hub.pump)
        except BaseException:
            hub._close_if_empty()
            raise
        hub._sessions[session.id] = changed
        return hub, session

    def forget(self, session: _core.Session) -> None:
        if self._sessions.pop(session.id, None) is not None:
            self._close_if_empty()

    def _close_if_empty(self) -> None:
        if not self._sessions:
            self._close()

    def _close(self) -> None:
        del self._of_loop[self._loop]
        self._loop.remove_reader(self.pump.fileno())
        self.pump.close()

    def _news(self) -> None:
        for number in self.pump.drain():
            if (changed := self._sessions.get(number)) is not None:
                # As separate callbacks, so that an exception in one does not prevent the others.
                self._loop.call_soon(changed)


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
        self._hub: _Hub | None
        try:
            self._hub, self._core = _Hub.open(opening, self._changed)
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
