"""Opening and closing the two connections of one remote, for its link."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from functools import lru_cache
from typing import Any

from rewarder.client import RewarderClient
from rewarder.protocol.buffer import RewardBuffer
from rewarder.protocol.features import ENV_OBSERVATION, LOCKSTEP
from rewarder.protocol.messages import Envelope
from rewarder.version import VERSION
from universe_client.config import Config
from universe_client.errors import ProviderError, Unsupported, is_refused_by_system, words
from universe_client.providers.provider import Provider, RemoteAddress
from vnc.drivers import connect as driver
from vnc.encodings import preference
from vnc.session import Session

logger = logging.getLogger(__name__)

_MISSING = {
    LOCKSTEP: "the remote cannot freeze between steps: use mode='realtime'",
    ENV_OBSERVATION: "the remote tells no observations of its environment's own",
}


class Connector:
    """Gets one remote from its provider and opens its connections. Used on the event loop's thread."""

    def __init__(self, index: int, provider: Provider, config: Config) -> None:
        self._index, self._provider, self._config = index, provider, config

    async def acquire(self, label: str) -> RemoteAddress:
        """Return where the remote listens, when its provider has started it.

        Raises:
            ProviderError: it was not started within `start_timeout`, or the operating system refused something.
            RemoteError: whatever else the provider says.
        """
        timeout = self._config.start_timeout
        try:
            async with asyncio.timeout(timeout) as deadline:
                return await self._provider.acquire(self._index)
        except Exception as error:
            if not is_refused_by_system(error):
                raise
            what = f"not started within {timeout:g} s" if deadline.expired() else words(error)
            failure = ProviderError(what, remote=label, stage="start")
            failure.__cause__ = error
        if deadline.expired():
            await self.discard(label)
        raise failure

    async def discard(self, label: str) -> None:
        """Give the remote back as of no use."""
        await _try(self._provider.discard(self._index), label)

    async def open_session(self, address: RemoteAddress, on_change: Callable[[], None]) -> Session:
        """Open the VNC connection; see `vnc.session.Connect` for the errors."""
        config = self._config
        return await driver(config.driver)(
            address.vnc,
            on_change=on_change,
            limits=config.limits,
            timeouts=config.timeouts,
            encodings=preference(config.encoding, config.quality, address.vnc.host),
        )

    async def open_rewarder(
        self,
        address: RemoteAddress,
        buffer: RewardBuffer,
        on_message: Callable[[Envelope], None],
        label: str,
    ) -> RewarderClient | None:
        """Open the rewarder connection; a remote without a rewarder has None.

        Raises:
            ConnectError, AuthError: see `RewarderClient.connect`.
        """
        if address.rewarder is None:
            return None
        rewarder = await RewarderClient.connect(
            address.rewarder,
            buffer=buffer,
            on_message=on_message,
            observer=self._config.observer,
            wants=self._config.wants,
            timeouts=self._config.rewarder_timeouts,
            label=label,
        )
        logger.info("= remote %s has version %s", label, rewarder.remote_version or "unknown")
        if rewarder.remote_version not in (None, VERSION):
            _warn_of_version(rewarder.remote_version)
        return rewarder

    def check_offer(self, rewarder: RewarderClient | None, label: str) -> None:
        """Compare what the configuration asks for with what the remote offers.

        Raises:
            Unsupported: the remote does not offer something.
        """
        offered = frozenset() if rewarder is None else rewarder.offer.features
        for feature in sorted(self._config.wants - offered):
            raise Unsupported(_MISSING[feature], remote=label, stage="connect")

    async def close(self, session: Session | None, rewarder: RewarderClient | None, label: str) -> None:
        """Close what was opened, also when the operating system refuses part of it."""
        if session is not None:
            await _try(session.close(), label)
        if rewarder is not None:
            await _try(rewarder.close(), label)


async def _try(work: Coroutine[Any, Any, None], label: str) -> None:
    """Await `work`; log what the operating system refuses, for there is nobody who could do better."""
    try:
        await work
    except Exception as error:
        if not is_refused_by_system(error):
            raise
        logger.warning("! remote %s: %s", label, words(error))


@lru_cache(maxsize=32)
def _warn_of_version(version: str) -> None:
    """Warn once of each version of a remote that is not ours."""
    logger.warning(
        "a remote has version %r of universe-client and this client has %s: install the same version on both sides "
        "if something does not work as documented",
        version,
        VERSION,
    )
