"""The native driver: sessions on the Rust core, whose threads read and decode without the GIL."""

from __future__ import annotations

import asyncio
import os
import socket
import time
from collections.abc import Callable, Sequence
from typing import Any, ClassVar
from weakref import WeakKeyDictionary

from vnc import _core
from vnc.encodings import preference
from vnc.errors import (
    AuthError,
    ConnectError,
    LimitExceeded,
    PeerLost,
    ProtocolError,
    TooManyFailures,
    VNCError,
)
from vnc.events import Event, encode
from vnc.session import Frame, Limits, SessionStats, Timeouts, VNCAddress
from vnc.tls import TLS
from vnc.wire import Wire

_ERRORS: dict[str, type[VNCError]] = {
    "auth": AuthError,
    "connect": ConnectError,
    "limit": LimitExceeded,
    "locked": TooManyFailures,
    "lost": PeerLost,
    "protocol": ProtocolError,
}
_MOST_THREADS = 4


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
    error: VNCError = ConnectError(f"{address}: no address")
    for host in hosts:
        left = max(deadline - time.monotonic(), 0.0)
        hub = _Hub.running()
        core = hub.pump.open(
            host,
            address.port,
            _vnc_password(address),
            list(encodings),
            _bounds(limits),
            (left, *_deadlines(timeouts)),
        )
        session = NativeSession(address, on_change, hub, core)
        try:
            await session._ready()
        except ConnectError as problem:
            error = problem
            await session.close()
        except BaseException:
            await session.close()
            raise
        else:
            return session
    raise error


async def _connect_over_tls(
    address: VNCAddress,
    tls: TLS,
    on_change: Callable[[], Any],
    limits: Limits,
    timeouts: Timeouts,
    encodings: Sequence[int],
) -> NativeSession:
    wire = await Wire.open(address, timeouts.connect)
    hub = _Hub.running()
    core = hub.pump.feed(
        tls.insecure,
        None if address.username is None else address.username.encode(),
        _vnc_password(address) if address.username is None else (address.password or "").encode(),
        list(encodings),
        _bounds(limits),
        (timeouts.connect, *_deadlines(timeouts)),
    )
    session = NativeSession(address, on_change, hub, core, wire.flush)
    try:
        wire.attach(core)
        await wire.start_tls(tls)
        await session._ready()
    except BaseException:
        await session.close()
        raise
    return session


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


async def _resolve(address: VNCAddress, timeouts: Timeouts) -> list[str]:
    """Return the numeric addresses of a host."""
    loop = asyncio.get_running_loop()
    try:
        async with asyncio.timeout(timeouts.connect):
            found = await loop.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
    except TimeoutError:
        raise ConnectError(f"{address}: no address within {timeouts.connect:g} s") from None
    except OSError as error:
        raise ConnectError(f"{address}: {error}") from error
    return [str(sockaddr[0]) for *_, sockaddr in found]


class _Hub:
    """The pump of one event loop, there as long as it has sessions."""

    _of_loop: ClassVar[WeakKeyDictionary[asyncio.AbstractEventLoop, _Hub]] = WeakKeyDictionary()

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.pump = _core.Pump(min(_MOST_THREADS, os.cpu_count() or 1))
        self._loop = loop
        self._sessions: dict[int, Callable[[], Any]] = {}
        loop.add_reader(self.pump.fileno(), self._news)

    @classmethod
    def running(cls) -> _Hub:
        loop = asyncio.get_running_loop()
        hub = cls._of_loop.get(loop)
        if hub is None:
            hub = cls._of_loop[loop] = cls(loop)
        return hub

    def watch(self, session: _core.Session, changed: Callable[[], Any]) -> None:
        self._sessions[session.id] = changed

    def forget(self, session: _core.Session) -> None:
        if self._sessions.pop(session.id, None) is not None and not self._sessions:
            del self._of_loop[self._loop]
            self._loop.remove_reader(self.pump.fileno())
            self.pump.close()

    def _news(self) -> None:
        for number in self.pump.drain():
            if (changed := self._sessions.get(number)) is not None:
                # One by one, so that a listener that raises takes nothing from the others.
                self._loop.call_soon(changed)


class NativeSession:
    """A `vnc.session.Session` that lives in the Rust core, and so does its socket, if it has no TLS."""

    def __init__(
        self,
        address: VNCAddress,
        on_change: Callable[[], Any],
        hub: _Hub,
        core: _core.Session,
        flush: Callable[[], object] = lambda: None,
    ) -> None:
        self.address = address
        self._on_change = on_change
        self._flush = flush
        self._established = asyncio.Event()
        self._announced = False
        self._hub: _Hub | None = hub
        self._core = core
        hub.watch(core, self._changed)

    async def _ready(self) -> None:
        """Wait for the end of the handshake."""
        await self._established.wait()
        if self.error is not None and not self._core.ready:
            raise self.error
        self._announced = True

    def _changed(self) -> None:
        self._flush()
        if self._core.ready or self._core.error is not None:
            self._established.set()
        if self._announced:
            self._on_change()
        if self._core.error is not None:
            self._leave()

    def _leave(self) -> None:
        """Give up the hub, which has descriptors and threads."""
        if self._hub is not None:
            self._hub.forget(self._core)
            self._hub = None

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
    def stats(self) -> SessionStats:
        """See `vnc.session.Session.stats`."""
        return SessionStats(*self._core.stats)

    def refresh(self) -> int:
        """See `vnc.session.Session.refresh`."""
        return self._core.refresh()

    def take(self, out: Frame) -> int:
        """See `vnc.session.Session.take`; only what changed since the last take into `out` is copied."""
        return self._core.take(out)

    def send(self, events: Sequence[Event]) -> None:
        """See `vnc.session.Session.send`; written on the calling thread."""
        if events:
            self._core.send(encode(events))

    async def close(self) -> None:
        """See `vnc.session.Session.close`."""
        self._core.close()
        self._flush()
        self._leave()
        if self._announced:
            self._announced = False
            self._on_change()
