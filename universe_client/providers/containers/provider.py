"""Remotes in containers: one each, reachable from this machine only, removed however the agent ends."""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from rewarder.serving import ContainerRequest, Serving
from universe_client.errors import ConfigError, ProviderError
from universe_client.home import Home
from universe_client.providers.containers.answering import answers
from universe_client.providers.containers.background import blocking
from universe_client.providers.containers.daemon import EngineError, EngineMissing
from universe_client.providers.containers.engine import Engine, ImageMissing, check_sdk
from universe_client.providers.containers.images import IMAGES, Image, image_for
from universe_client.providers.containers.one_container import OneContainer, Phase, how_it_ended
from universe_client.providers.containers.owner import SESSION, Owner
from universe_client.providers.containers.records import Plan
from universe_client.providers.containers.removal import reap
from universe_client.providers.provider import RemoteAddress
from universe_client.renamed import refuse_old_names

logger = logging.getLogger(__name__)

IDLE_TIMEOUT = 600.0
"""Seconds without an agent after which a container ends, unless `serving` has another `idle_timeout`."""
_CANNOT_START = 2  # the exit status of a remote that refuses its env id or its options
_STOP_TIMEOUT = 10.0
HEALTH_PERIOD = 5.0
"""Seconds between two queries of the health that the daemon has recorded."""
_UNHEALTHY = "its health check fails"
_PATIENCE = 0.9
"""The share of `start_timeout` after which a start has failed. In the remaining time the reason is queried."""


@refuse_old_names
@dataclass(slots=True)
class DockerProvider:
    """Runs one container per remote (`docker:N`).

    The containers' ports are published on 127.0.0.1. Each container has a random password, limited memory, processors
    and processes, and by default no way into any network. A container that ends, is removed, or does not answer is
    replaced. All are removed when the provider is closed; `universe-client reap`, and the next provider, remove those
    of agents that were killed.

    Args:
        n: the number of remotes, at least 1.
        env_id: the environment to play.
        start_timeout: seconds that one container may take until its remote can be reached.
        image: the image to run and its limits; None uses the image of this project that plays `env_id`.
        reference: `NAME[:TAG]` of an image of your own that is built on one of this project's; its limits are those of
            `image`, by default the base image's.
        serving: the options of each remote. They take precedence over those in the image's ENTRYPOINT. Where a remote
            listens in its container is not an option.
        network: the name of a Docker network that the containers join without restrictions; None gives them a network
            without a way out.

    Attributes:
        session: a random name that this provider's containers carry as a label; see `universe-client down`.

    Raises:
        ConfigError: `n` is less than 1, the Docker SDK is not installed, or no image plays `env_id`.
    """

    n: int
    env_id: str
    start_timeout: float = 60.0
    image: Image | None = None
    reference: str | None = None
    serving: Serving = field(default_factory=Serving)
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
            raise ConfigError(f"{self.name}:{self.n} has no remotes: the number is at least 1")
        check_sdk()
        self.image = self.image or (IMAGES[0] if self.reference else image_for(self.env_id))

    def phase(self, index: int) -> str | None:
        """Return the step of `acquire` that remote `index` waits for; None once it is started."""
        run = self._runs.get(index)
        return run.phase if run is not None else Phase.DAEMON

    async def acquire(self, index: int) -> RemoteAddress:
        """Return the address of remote `index`; start a container if there is none, it has ended or does not answer.

        Raises:
            ProviderError: the container did not start.
            LocalStateError: this process is a fork of the one that started the remotes.
        """
        self._home.enter()
        run = self._runs.get(index)
        if run is not None and run.address is not None and await self._still_answers(index, run):
            return run.address
        await self.discard(index)
        return await self._start(index)

    async def _still_answers(self, index: int, run: OneContainer) -> bool:
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
                what = "it runs, but does not answer"
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
            what = f"waited for the {run.phase} for {_PATIENCE * self.start_timeout:g} s"
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
            request=ContainerRequest(
                env_id=self.env_id, serving=self.serving.over(Serving(idle_timeout=IDLE_TIMEOUT))
            ),
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
        """Return the connection to the daemon. The first call connects, removes orphans and creates the network.

        The network stands for the session: it is not created again, so that removing it ends the session.
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
            logger.info("= removed %s, whose agent has ended", container)
        engine.create_network(self._network, self._labels)
        return engine

    async def _watch(self, engine: Engine) -> None:
        """Remove unhealthy containers. Their remotes lose the connection and acquire new ones."""
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

    # -- failures and removal -----------------------------------------------------------------------------------

    async def _give_up(
        self, index: int, run: OneContainer, what: str, *, permanent: bool = False
    ) -> ProviderError:
        """Remove the container; return an error with the reason and the end of the container's log."""
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
        failure.permanent = permanent or status == _CANNOT_START
        await self.discard(index)
        return failure

    def _failure(self, index: int, run: OneContainer, what: str, words: Sequence[str]) -> ProviderError:
        lines = "".join(f"\n    {line}" for line in words)
        text = f"container {run.plan.name}: {what}" + (f"; its last words:{lines}" if lines else "")
        return ProviderError(text, remote=self._label(index), stage="start")

    def _missing(self) -> str:
        assert self.image is not None
        if self.reference is not None:
            return f"the daemon has no image {self.reference}: build or pull it"
        return (
            f"the daemon has no image {self.image.reference}: run universe-client build {self.image.name} "
            "in a checkout of this project"
        )

    def _session_ended(self) -> str:
        return (
            f"its session was ended by universe-client down, or by the removal of the network {self._network}"
        )

    def _label(self, index: int) -> str:
        return f"{index} ({self.name})"

    async def discard(self, index: int) -> None:
        """Remove the container of remote `index`, also while it starts.

        This does nothing in a fork of the process that started it.
        """
        if self._home.is_elsewhere:
            return
        run = self._runs.pop(index, None)
        if run is None:
            return
        removal = asyncio.create_task(self._remove(run), name=f"removal of {run.plan.name}")
        self._removals.add(removal)
        removal.add_done_callback(self._removals.discard)
        await asyncio.shield(removal)  # a cancelled caller does not cancel the removal

    async def _remove(self, run: OneContainer) -> None:
        try:
            await blocking(run.stop)
        except EngineError as error:
            logger.warning("! container %s could not be removed: %s", run.plan.name, error)
        assert run.task is not None
        ended, _ = await asyncio.wait([run.task], timeout=_STOP_TIMEOUT)
        for task in ended:
            task.exception()  # retrieves the error of a start that was stopped, which asyncio would log

    async def close(self) -> None:
        """Remove all containers and the network. This does nothing in a fork of the process that created them."""
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
            return  # `acquire` has reported it
        await asyncio.gather(*(self.discard(index) for index in list(self._runs)), *self._removals)
        try:
            await blocking(lambda: engine.remove_network(self._network))
        except EngineError as error:
            logger.warning("! network %s could not be removed: %s", self._network, error)
        engine.close()
