"""Serve a `Runtime` to agents: `run` from a main thread, `serve` in an event loop."""

from __future__ import annotations

import asyncio
import logging
import ssl
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol, TypedDict, Unpack

from rewarder.sdk.environment import Runtime, Tick
from rewarder.sdk.extras import Extras
from rewarder.sdk.loop.inbox import Inbox
from rewarder.sdk.loop.input_feed import InputFeed
from rewarder.sdk.loop.player import Player
from rewarder.sdk.loop.worker import InlineWorker, ThreadWorker, Worker
from rewarder.sdk.shutdown import until_stopped
from rewarder.server.exposure import check_reach, names
from rewarder.server.server import RewarderServer
from rewarder.steps.listener import StepListener
from rewarder.version import VERSION
from rewarder.viewer.bridge import Screen
from rewarder.viewer.site import Viewer, ViewerTokens
from vnc.events import Event
from vnc.server.server import VNCServer
from vnc.session import Frame
from vnc.tls import TLS, Identity
from vnc.vncauth import vnc_password

__all__ = ["Event", "Frame", "Ports", "Runtime", "RuntimeCrash", "ServeOptions", "Tick", "run", "serve"]

CLOSE_TIMEOUT = 0.7
"""Seconds to close connections and environment, so that a remote ends within a second of its parent."""
GOING_AWAY, CRASHED, IDLE = 1001, 1011, 4408

log = logging.getLogger(__name__)


class RuntimeCrash(Exception):
    """The environment raised an exception, which is this one's cause."""


@dataclass(frozen=True, slots=True)
class Ports:
    """The ports of a running remote.

    Attributes:
        vnc_port: of the VNC server.
        rewarder_port: of the rewarder and the viewer's page.
        mirror_port: of a second VNC server, which costs agents on the same host less; 0: there is none.
        tokens: secrets in the viewer's URLs, in place of a password.
    """

    vnc_port: int
    rewarder_port: int
    mirror_port: int = 0
    tokens: ViewerTokens = field(default_factory=ViewerTokens, repr=False)


class Mirror(Protocol):
    """A second VNC server, on 127.0.0.1, that shows the display of the environment."""

    async def start(self) -> int:
        """Listen; return the port, or 0 if the display cannot be shown."""
        ...

    async def run(self) -> None:
        """Show the display until cancelled.

        Raises:
            OSError: the display has ended.
        """
        ...

    async def close(self) -> None:
        """Stop listening, and disconnect all clients."""
        ...


class ServeOptions(TypedDict, total=False):
    """The keyword arguments of `serve`."""

    host: str
    vnc_port: int
    rewarder_port: int
    password: str | None
    view_only_password: str | None
    env_id: str | None
    seed: int | None
    idle_timeout: float | None
    on_ready: Callable[[Ports], object] | None
    display: int | None
    mirror: Mirror | None
    novnc: Path | None
    allowed_calls: Sequence[str]
    identity: Identity | None
    private_network: bool
    allow_hosts: Sequence[str]


def run(runtime: Runtime, *, exit_with_stdin: bool = False, **options: Unpack[ServeOptions]) -> None:
    """Serve `runtime` until SIGTERM, SIGINT or the idle timeout. Call it from the main thread.

    Args:
        runtime: the environment.
        exit_with_stdin: also stop at the end of stdin, and when the parent process dies.
        options: the keyword arguments of `serve`.

    Raises:
        RuntimeCrash, OSError, ValueError: as `serve`.
    """
    asyncio.run(until_stopped(serve(runtime, **options), exit_with_stdin=exit_with_stdin))


async def serve(
    runtime: Runtime,
    *,
    host: str = "127.0.0.1",
    vnc_port: int = 0,
    rewarder_port: int = 0,
    password: str | None = None,
    view_only_password: str | None = None,
    env_id: str | None = None,
    seed: int | None = None,
    idle_timeout: float | None = None,
    on_ready: Callable[[Ports], object] | None = None,
    display: int | None = None,
    mirror: Mirror | None = None,
    novnc: Path | None = None,
    allowed_calls: Sequence[str] = (),
    identity: Identity | None = None,
    private_network: bool = False,
    allow_hosts: Sequence[str] = (),
) -> None:
    """Run `runtime` in real time and serve it to agents, until cancelled or idle.

    Args:
        runtime: the environment.
        host: the address to listen on.
        vnc_port: the port for pixels and input; 0 picks a free one.
        rewarder_port: the port for rewards, resets and the viewer's page; 0 picks a free one.
        password: that both ports require; VNC uses its first 8 bytes. None: clients need no password.
        view_only_password: with which a VNC viewer can watch, but not act.
        env_id: the environment until a client asks for another; None is the runtime's first.
        seed: of the first episode.
        idle_timeout: seconds without a controlling client after which this function returns; None is never.
        on_ready: called when both ports accept connections.
        display: the port of a VNC server that already shows the environment, with TLS if `identity` is given. None
            starts one of ours.
        mirror: a second VNC server of `display`, which runs as long as the environment.
        novnc: the directory of noVNC, for the page at /viewer/; None is where Debian's package installs it.
        allowed_calls: names of attributes of `runtime.inside` that clients may call, read and set.
        identity: the certificate and key of both ports, which then require TLS; None is no TLS.
        private_network: allow a `host` off loopback without TLS, because only trusted machines reach it.
        allow_hosts: host names that clients may use for the rewarder port, besides addresses, `localhost` and `host`.
            Requests by other names are refused, as protection from DNS rebinding.

    Raises:
        RuntimeCrash: the environment raised an exception; clients received its class.
        OSError: a port cannot be bound.
        ValueError: the runtime does not have `env_id`, or has no screen; `novnc` does not contain noVNC;
            `allowed_calls` has a name that is not a public attribute's; other machines reach `host` without a password
            or TLS; or `identity` is not a certificate with its key.
    """
    check_reach(host, password, encrypted=identity is not None, private_network=private_network)
    tls = None if identity is None else identity.context()
    viewer = Viewer(novnc)
    async with _opened(runtime) as worker:
        env_id = env_id or runtime.env_ids[0]
        if env_id not in runtime.env_ids:
            raise ValueError(f"unknown env_id {env_id!r}, this runtime has {', '.join(runtime.env_ids)}")
        inbox = Inbox(runtime.env_ids)
        feed = InputFeed(inbox, lambda: player.episode_id)
        rewarder = RewarderServer(
            password=password,
            on_reset=inbox.reset,
            on_action=inbox.action,
            extras=Extras(runtime, worker, inbox, feed, allowed_calls),
            health=lambda: {
                **player.health(),
                "vnc_clients": vnc.clients if vnc else None,
                "version": VERSION,
            },
            speed=lambda: player.speed,
            idle_timeout=idle_timeout,
            site=viewer,
            hosts=names(host, allow_hosts),
            step_ticket=lambda: "" if listener is None else listener.ticket(),
        )
        inbox.refuse = rewarder.reply_error
        vnc = None
        if display is None and not runtime.display:
            vnc = _vnc_server(runtime, env_id, password, view_only_password, inbox, feed)
        else:  # a VNC server that does not tell its clients' input apart
            viewer.on_input = feed.add
        player = Player(runtime, worker, inbox, rewarder, vnc, env_id)
        listener = None if vnc is None else _step_listener(runtime, player)
        remote = _Remote(player, rewarder, vnc, mirror)
        try:
            listening = await remote.listen(host, vnc_port, rewarder_port, display or 0, tls)
            ports = replace(listening, tokens=viewer.tokens)
            if ports.vnc_port:
                viewer.show(_screen(host, ports.vnc_port, password, view_only_password, identity))
            (on_ready or _log_ports)(ports)
            await remote.run(seed)
        finally:
            if listener is not None:
                listener.close()
            await remote.close()


@asynccontextmanager
async def _opened(runtime: Runtime) -> AsyncIterator[Worker]:
    """Open the runtime, on a thread of its own unless it is quick; close it on the same thread."""
    worker = InlineWorker() if runtime.quick else ThreadWorker("runtime")
    try:
        await worker.call(runtime.open)
        try:
            yield worker
        finally:
            # The timeout is for a reset that never returns.
            with suppress(TimeoutError):
                async with asyncio.timeout(CLOSE_TIMEOUT / 2):
                    await worker.call(runtime.close)
    finally:
        worker.stop()


class _Remote:
    """A running environment and its servers."""

    def __init__(
        self, player: Player, rewarder: RewarderServer, vnc: VNCServer | None, mirror: Mirror | None
    ) -> None:
        self._player = player
        self._rewarder = rewarder
        self._vnc = vnc
        self._mirror = mirror
        self._goodbye = (GOING_AWAY, "the remote is stopped")

    async def listen(
        self, host: str, vnc_port: int, rewarder_port: int, display: int, tls: ssl.SSLContext | None
    ) -> Ports:
        """Open the ports."""
        await self._rewarder.start(host, rewarder_port, tls)
        if self._vnc is not None:
            await self._vnc.start(host, vnc_port, tls)
        mirror_port = 0 if self._mirror is None else await self._mirror.start()
        return Ports(
            self._vnc.port if self._vnc is not None else display, self._rewarder.port, mirror_port=mirror_port
        )

    async def run(self, seed: int | None) -> None:
        """Run episodes until the idle timeout.

        Raises:
            RuntimeCrash: the runtime raised an exception.
        """
        playing = asyncio.create_task(self._player.play(seed))
        idle = asyncio.create_task(self._rewarder.idle())
        tasks = {playing, idle}
        if self._mirror is not None:
            tasks.add(asyncio.create_task(self._mirror.run()))
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                await task
            self._goodbye = (IDLE, "idle timeout: no controlling client")
        except Exception as error:
            what = f"the runtime crashed: {type(error).__name__}"
            self._goodbye = (CRASHED, what)
            log.exception("! %s", what)
            raise RuntimeCrash(what) from error
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)

    async def close(self) -> None:
        """Send clients the reason, and close the ports."""
        with suppress(TimeoutError):
            async with asyncio.timeout(CLOSE_TIMEOUT / 2):
                await self._rewarder.close(*self._goodbye)
        if self._vnc is not None:
            await self._vnc.close()
        if self._mirror is not None:
            await self._mirror.close()


def _vnc_server(
    runtime: Runtime,
    name: str,
    password: str | None,
    view_only_password: str | None,
    inbox: Inbox,
    feed: InputFeed,
) -> VNCServer:
    return VNCServer(
        runtime.width,
        runtime.height,
        name=name,
        password=vnc_password(password),
        view_only_password=vnc_password(view_only_password),
        on_events=inbox.events,
        on_input=feed.add,
    )


def _step_listener(runtime: Runtime, player: Player) -> StepListener | None:
    """Return the listener for step channels, if the runtime can be stepped and the system has what they need."""
    if not runtime.lockstep or sys.platform != "linux":
        return None
    try:
        return StepListener(runtime.width, runtime.height, player.open_lane)
    except OSError as error:  # a sandbox without abstract sockets
        log.info("= no step channels: %s", error)
        return None


def _screen(
    host: str, port: int, password: str | None, view_only_password: str | None, identity: Identity | None
) -> Screen:
    """Return where the viewer's bridge connects: to loopback, if the server listens on all addresses."""
    host = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}.get(host, host)
    tls = None if identity is None else TLS(fingerprint=identity.fingerprint)
    return Screen(host, port, vnc_password(password), vnc_password(view_only_password), tls)


def _log_ports(ports: Ports) -> None:
    log.info("= listening on ports %d (vnc) and %d (rewarder)", ports.vnc_port, ports.rewarder_port)
