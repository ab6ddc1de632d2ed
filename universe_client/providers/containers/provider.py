"""Remotes in containers: one each, on this machine's loopback only, removed however the agent ends."""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from universe_client.errors import ConfigError, ProviderError
from universe_client.home import Home
from universe_client.providers.containers.answering import answers
from universe_client.providers.containers.background import blocking
from universe_client.providers.containers.daemon import EngineError, EngineMissing
from universe_client.providers.containers.engine import Engine, ImageMissing, Plan, check_sdk
from universe_client.providers.containers.images import IMAGES, Image, image_for
from universe_client.providers.containers.one_container import OneContainer, Phase, how_it_ended
from universe_client.providers.containers.owner import SESSION, Owner
from universe_client.providers.containers.removal import reap
from universe_client.providers.provider import RemoteAddress

logger = logging.getLogger(__name__)

IDLE_TIMEOUT = 600
"""Seconds without an agent after which a container ends by itself."""
_CANNOT_BE_STARTED = 2  # the exit status with which a remote says that it was asked for what it cannot do
_STOP_TIMEOUT = 10.0
HEALTH_PERIOD = 5.0
"""Seconds between two looks at the health that the daemon knows of."""
_UNHEALTHY = "its health check fails"
_PATIENCE = 0.9
"""The share of `start_timeout` after which a start has failed: the rest is for saying why."""


@dataclass(slots=True)
class DockerProvider:
    """Runs one container per remote.

    Attributes:
        n: how many.
        env_id: what they play at first.
        start_timeout: seconds until one must be reachable.
        image: what to run, and within which limits; None takes the image of ours that plays `env_id`.
        reference: the name and tag of another image that serves remotes as ours do; its limits are the base image's.
        arguments: more command-line arguments for the remote (`python -m rewarder serve --help`).
        network: the name of a Docker network of yours that the containers join, and may use as they like. None gives
            them one that leads nowhere.
        session: what names our containers and tells them from those of others.
    """

    n: int
    env_id: str
    start_timeout: float = 60.0
    image: Image | None = None
    reference: str | None = None
    arguments: Sequence[str] = ()
    network: str | None = None
    session: str = field(default_factory=lambda: secrets.token_hex(4), init=False)
    _runs: dict[int, OneContainer] = field(default_factory=dict, init=False, repr=False)
    _removals: set[asyncio.Task[None]] = field(default_factory=set, init=False, repr=False)
    _opening: asyncio.Task[Engine] | None = field(default=None, init=False, repr=False)
    _watching: asyncio.Task[None] | None = field(default=None, init=False, repr=False)
    _closed: bool = field(default=False, init=False, repr=False)
    _home: Home = field(default_factory=Home, init=False, repr=False)
    name: ClassVar[str] = "docker"

    def __post_init__(self) -> None:
        if self.n < 1:
            raise ConfigError(f"{self.name}:{self.n} has no remotes")
        check_sdk()
        self.image = self.image or (IMAGES[0] if self.reference else image_for(self.env_id))

    def phase(self, index: int) -> str | None:
        """Return what remote `index`, which is being acquired, is waiting for."""
        run = self._runs.get(index)
        return run.phase if run is not None else Phase.DAEMON

    async def acquire(self, index: int) -> RemoteAddress:
        """Return the address of the container, of a new one if there is none, it has ended or does not answer.

        Raises:
            ProviderError: it could not be started.
            LocalStateError: this process was forked from the one that started remotes.
        """
        self._home.enter()
        run = self._runs.get(index)
        if run is not None and run.address is not None and await self._lives(index, run):
            return run.address
        await self.discard(index)
        return await self._start(index)

    async def _lives(self, index: int, run: OneContainer) -> bool:
        assert run.address is not None
        try:
            container = await blocking(run.inspect)
            if container is None or not container.is_running:
                what = how_it_ended(container)
            elif container.is_unhealthy:
                what = _UNHEALTHY
            elif await answers(run.address):
                return True
            else:
                what = "it runs and does not answer"
            words = await blocking(run.last_words) if container is not None else []
        except EngineError as error:
            raise self._failure(index, run, str(error), []) from error
        logger.warning("! %s", self._failure(index, run, what, words))
        return False

    async def _start(self, index: int) -> RemoteAddress:
        engine = await self._engine(index)
        if self._closed:
            raise ProviderError("the provider is closed", remote=self._label(index), stage="start")
        run = self._runs[index] = OneContainer(engine, self._plan(index))
        run.task = asyncio.create_task(blocking(run.start), name=f"container {run.plan.name}")
        try:
            async with asyncio.timeout(_PATIENCE * self.start_timeout):
                return await asyncio.shield(run.task)
        except TimeoutError:
            what = f"waited for its {run.phase} for {_PATIENCE * self.start_timeout:g} s"
            raise await self._give_up(index, run, what) from None
        except ImageMissing as error:
            raise await self._give_up(index, run, self._missing(), permanent=True) from error
        except EngineError as error:
            raise await self._give_up(index, run, str(error)) from error

    def _plan(self, index: int) -> Plan:
        assert self.image is not None
        return Plan(
            name=f"universe-client-{self.session}-{index}-{secrets.token_hex(2)}",
            reference=self.reference or self.image.reference,
            command=[self.env_id, "--idle-timeout", str(IDLE_TIMEOUT), *self.arguments],
            labels=self._labels,
            limits=self.image,
            network=self.network or self._network,
            is_open=self.network is not None,
        )

    @property
    def _labels(self) -> dict[str, str]:
        return {SESSION: self.session} | Owner.here().labels

    # -- the daemon ---------------------------------------------------------------------------------------------

    @property
    def _network(self) -> str:
        return f"universe-client-{self.session}"

    async def _engine(self, index: int) -> Engine:
        """Return the daemon; the first to ask connects, tidies up, and makes the network.

        The network is the session: it is not made again, so that whoever removes it has ended the session.
        """
        if self._opening is None:
            self._opening = asyncio.create_task(blocking(self._open), name="docker daemon")
        opening = self._opening
        try:
            engine = await asyncio.shield(opening)
        except (EngineError, ConfigError) as error:
            if self._opening is opening:
                self._opening = None
            failure = ProviderError(str(error), remote=self._label(index), stage="start")
            failure.permanent = isinstance(error, (EngineMissing, ConfigError)) and not self._runs
            raise failure from error
        if self._watching is None and not self._closed:
            self._watching = asyncio.create_task(self._watch(engine), name="health of containers")
        return engine

    def _open(self) -> Engine:
        engine = Engine()
        for container in reap(engine):
            logger.info("= removed %s, whose owner is dead", container)
        engine.create_network(self._network, self._labels)
        return engine

    async def _watch(self, engine: Engine) -> None:
        """Remove containers that the daemon calls unhealthy: their links notice, and acquire others."""
        while True:
            await asyncio.sleep(HEALTH_PERIOD)
            try:
                found = await blocking(lambda: engine.unhealthy(self.session))
            except EngineError as error:
                logger.debug("! health of containers: %s", error)
                continue
            for index, run in list(self._runs.items()):
                if run.address is not None and run.identity in found:
                    logger.warning("! %s", self._failure(index, run, _UNHEALTHY, []))
                    await self.discard(index)

    # -- ends ---------------------------------------------------------------------------------------------------

    async def _give_up(
        self, index: int, run: OneContainer, what: str, *, permanent: bool = False
    ) -> ProviderError:
        """Return the error that says why, with the container's last words; remove the container."""
        status = None
        try:
            container = await blocking(run.inspect)
            words = await blocking(run.last_words) if container is not None else []
            if container is not None and not container.is_running and container.state != "created":
                what, status = how_it_ended(container), container.exit_code
            if not await blocking(run.is_wanted):
                what, words, permanent = self._session_ended(), [], True
        except EngineError as error:
            words = [f"(no log: {error})"]
        failure = self._failure(index, run, what, words)
        failure.permanent = permanent or status == _CANNOT_BE_STARTED
        await self.discard(index)
        return failure

    def _failure(self, index: int, run: OneContainer, what: str, words: Sequence[str]) -> ProviderError:
        lines = "".join(f"\n    {line}" for line in words)
        text = f"container {run.plan.name}: {what}" + (f"; its last words:{lines}" if lines else "")
        return ProviderError(text, remote=self._label(index), stage="start")

    def _missing(self) -> str:
        assert self.image is not None
        if self.reference is not None:
            return f"there is no image {self.reference} here"
        return (
            f"there is no image {self.image.reference} here: universe-client build {self.image.name}, "
            "in a checkout of this project"
        )

    def _session_ended(self) -> str:
        return f"its session has ended: universe-client down, or somebody removed the network {self._network}"

    def _label(self, index: int) -> str:
        return f"{index} ({self.name})"

    async def discard(self, index: int) -> None:
        """Remove the container, in whatever phase it is; a fork of the process that started it does nothing."""
        if self._home.is_elsewhere:
            return
        run = self._runs.pop(index, None)
        if run is None:
            return
        removal = asyncio.create_task(self._remove(run), name=f"removal of {run.plan.name}")
        self._removals.add(removal)
        removal.add_done_callback(self._removals.discard)
        await asyncio.shield(removal)  # whoever waits may give up, the removal does not

    async def _remove(self, run: OneContainer) -> None:
        try:
            await blocking(run.stop)
        except EngineError as error:
            logger.warning("! container %s may be left behind: %s", run.plan.name, error)
        assert run.task is not None
        ended, _ = await asyncio.wait([run.task], timeout=_STOP_TIMEOUT)
        for task in ended:
            task.exception()  # a start that was stopped has failed: nobody need hear of it

    async def close(self) -> None:
        """Remove every container, and the network; a fork of the process that made them does nothing."""
        if self._home.is_elsewhere:
            return
        self._closed = True
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.wait([self._watching])
        opening, self._opening = self._opening, None
        if opening is None:
            return
        try:
            engine = await opening
        except (EngineError, ConfigError):
            return  # told by whoever asked for a remote
        await asyncio.gather(*(self.discard(index) for index in list(self._runs)), *self._removals)
        try:
            await blocking(lambda: engine.remove_network(self._network))
        except EngineError as error:
            logger.warning("! network %s may be left behind: %s", self._network, error)
        engine.close()
