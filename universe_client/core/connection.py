"""The connections to one remote: its VNC session and its rewarder's WebSocket, opened and closed together."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine
from functools import lru_cache, partial
from typing import Any

from rewarder.client import RewarderClient
from rewarder.protocol.buffer import RewardBuffer
from rewarder.protocol.features import ENV_OBSERVATION, INPUT, LOCKSTEP, TICKS
from rewarder.protocol.messages import Envelope, Input
from rewarder.steps.channel import Channel
from rewarder.steps.dial import dial
from rewarder.version import VERSION
from universe_client.config import Config
from universe_client.errors import ProviderError, Unsupported, is_refused_by_system, message_of
from universe_client.providers.provider import Provider, RemoteAddress
from vnc.drivers import connect as driver
from vnc.encodings import new_mark, preference
from vnc.session import Session

logger = logging.getLogger(__name__)

_MAX_LAG = 60.0
"""Seconds; a remote that reports older input is wrong."""
_MISSING = {
    LOCKSTEP: "the remote cannot freeze between steps: use mode='realtime'",
    TICKS: "the remote runs one tick per step: it needs the version of universe-client that is installed here",
    ENV_OBSERVATION: "the remote does not send environment observations",
}


class Connection:
    """Gets one remote from its provider, opens both connections, and closes them. Used on the event loop's thread.

    Attributes:
        address: where the remote listens; it is kept after the end of the connections, for messages.
        has_rewarder: whether the remote at this address has a rewarder; True while there is no address.
        session, rewarder: the open connections; None otherwise, and `rewarder` also for a remote that has none.
        steps: in lock-step, the step channel of a remote on this host; None if there is none.
        needs: features that the remote has to offer, beside those that the configuration wants.
        on_session: called with each new session; None calls nothing.
        on_input: called with each report of what others press on the remote; None calls nothing. When it has been set,
            call `watch_input`.
    """

    def __init__(self, index: int, provider: Provider, config: Config) -> None:
        self.address: RemoteAddress | None = None
        self.has_rewarder = True
        self.session: Session | None = None
        self.rewarder: RewarderClient | None = None
        self.steps: Channel | None = None
        self.needs: frozenset[str] = frozenset()
        self.on_session: Callable[[Session], None] | None = None
        self.on_input: Callable[[Envelope, Input], None] | None = None
        self._mark = new_mark()
        self._sent_at: float | None = None  # of the message that is being processed, on the remote's clock
        self._index, self._provider, self._config = index, provider, config
        self._over: asyncio.Future[Exception] | None = None
        self._watcher: asyncio.Task[None] | None = None

    @property
    def label(self) -> str:
        """`index (address)`, for errors and logs."""
        return f"{self._index} ({self.address or 'no address yet'})"

    async def open(
        self, buffer: RewardBuffer, on_change: Callable[[], None], on_message: Callable[[Envelope], None]
    ) -> None:
        """Open both connections.

        Args:
            buffer: where rewards are summed.
            on_change: called when the session has news.
            on_message: called after each message of the rewarder.

        Raises:
            RemoteError: the provider or the rewarder failed, or the remote does not offer what the configuration needs.
            VNCError: see `vnc.session.Connect`.
        """
        self._over = asyncio.get_running_loop().create_future()
        self.address = await self._acquire()
        self.has_rewarder = self.address.rewarder is not None
        # The session first: an episode that begins before there is a screen would be truncated if there never is one.
        self.session = await self._open_session(self.address, on_change)
        if self.on_session is not None:
            self.on_session(self.session)
        if self.address.rewarder is not None:
            self.rewarder = await self._open_rewarder(
                self.address, buffer, partial(self._process, on_message)
            )
            self._watcher = asyncio.create_task(
                self._watch(self.rewarder), name=f"remote {self._index} rewarder"
            )
        self._check_offer()
        self.watch_input()
        self.steps = await self._open_steps(self.session)
        logger.info("= remote %s connected", self.label)

    def watch_input(self) -> None:
        """Ask the remote for what others press on it, if somebody wants to know and the remote can tell."""
        if self.on_input is None or self.rewarder is None or self._config.observer:
            return
        if INPUT in self.rewarder.offer.features:
            self.rewarder.watch_input(self._mark)

    def _process(self, on_message: Callable[[Envelope], None], envelope: Envelope) -> None:
        if isinstance(envelope.message, Input):
            if self.on_input is not None:
                self.on_input(envelope, envelope.message)
            return
        self._sent_at = envelope.headers.sent_at
        on_message(envelope)
        self._sent_at = None

    @property
    def message_time(self) -> float:
        """A moment (monotonic) before which the message that is being processed was not sent; now if there is none."""
        now, clock = time.monotonic(), None if self.rewarder is None else self.rewarder.clock
        if self._sent_at is None or clock is None or clock.rtt is None:
            return now
        return now - max((clock.lag(self._sent_at, now) or 0.0) + clock.rtt / 2, 0.0)

    def local_time(self, at: float) -> float:
        """Return the moment (monotonic) of the time `at` of the remote's clock: not in the future, nor long ago."""
        now, clock = time.monotonic(), None if self.rewarder is None else self.rewarder.clock
        lag = 0.0 if clock is None else clock.lag(at, now) or 0.0
        return now - min(max(lag, 0.0), _MAX_LAG)

    async def ended(self) -> Exception:
        """Wait until a connection has ended; return why."""
        assert self._over is not None
        return await self._over

    def end(self, error: Exception) -> None:
        """Make `ended` return `error`; only the first call has an effect."""
        if self._over is not None and not self._over.done():
            self._over.set_result(error)

    async def close(self) -> None:
        """Close what is open, even if the operating system refuses part of it."""
        session, self.session = self.session, None
        rewarder, self.rewarder = self.rewarder, None
        steps, self.steps = self.steps, None
        if steps is not None:
            steps.hang_up()
        if rewarder is not None and self._watcher is not None:
            self._watcher.cancel()
        if session is not None:
            await self._try(session.close())
        if rewarder is not None:
            await self._try(rewarder.close())

    async def discard(self) -> None:
        """Return the remote to its provider as unusable."""
        await self._try(self._provider.discard(self._index))

    async def _try(self, work: Coroutine[Any, Any, None]) -> None:
        """Await `work`; only log what the operating system refuses: the remote is given up in any case."""
        try:
            await work
        except Exception as error:
            if not is_refused_by_system(error):
                raise
            logger.warning("! remote %s: %s", self.label, message_of(error))

    # -- opening ------------------------------------------------------------------------------------------------

    async def _acquire(self) -> RemoteAddress:
        timeout = self._config.start_timeout
        try:
            async with asyncio.timeout(timeout) as deadline:
                return await self._provider.acquire(self._index)
        except Exception as error:
            if not is_refused_by_system(error):
                raise
            what = f"not started within {timeout:g} s" if deadline.expired() else message_of(error)
            failure = ProviderError(what, remote=self.label, stage="start")
            failure.__cause__ = error
        if deadline.expired():
            await self.discard()
        raise failure

    async def _open_session(self, address: RemoteAddress, on_change: Callable[[], None]) -> Session:
        config = self._config
        return await driver(config.driver)(
            address.vnc,
            on_change=on_change,
            limits=config.limits,
            timeouts=config.timeouts,
            encodings=(*preference(config.encoding, config.quality, address.vnc.host), self._mark),
        )

    async def _open_rewarder(
        self, address: RemoteAddress, buffer: RewardBuffer, on_message: Callable[[Envelope], None]
    ) -> RewarderClient:
        assert address.rewarder is not None
        rewarder = await RewarderClient.connect(
            address.rewarder,
            buffer=buffer,
            on_message=on_message,
            observer=self._config.observer,
            wants=self._config.wants,
            timeouts=self._config.rewarder_timeouts,
            label=self.label,
        )
        logger.info("= remote %s has version %s", self.label, rewarder.remote_version or "unknown")
        if rewarder.remote_version not in (None, VERSION):
            _warn_of_version(rewarder.remote_version)
        return rewarder

    async def _open_steps(self, session: Session) -> Channel | None:
        offered = "" if self.rewarder is None else self.rewarder.offer.steps
        if not offered or not self._config.shares_memory:
            return None
        height, width, _ = session.shape
        try:
            return await dial(offered, (width, height), self._config.timeouts.connect)
        except (OSError, ValueError) as error:
            logger.info("= remote %s is stepped over its ports: %s", self.label, error)
            return None

    async def _watch(self, rewarder: RewarderClient) -> None:
        self.end(await rewarder.closed())

    def _check_offer(self) -> None:
        offered = frozenset() if self.rewarder is None else self.rewarder.offer.features
        for feature in sorted((self._config.wants | self.needs) - offered):
            raise Unsupported(_MISSING[feature], remote=self.label, stage="connect")


@lru_cache(maxsize=32)
def _warn_of_version(version: str) -> None:
    """Warn once of each other version of universe-client."""
    logger.warning(
        "a remote has version %r of universe-client and this client has %s: install the same version on both sides "
        "if something does not work as documented",
        version,
        VERSION,
    )
