"""One container from its making to its end."""

from __future__ import annotations

import asyncio
import secrets
import threading
from enum import StrEnum

import msgspec

from rewarder.client import RewarderAddress
from rewarder.serving import Ready
from universe_client.providers.containers.daemon import EngineError
from universe_client.providers.containers.engine import HOST, REWARDER_PORT, VNC_PORT, Container, Engine, Plan
from universe_client.providers.containers.owner import SESSION
from universe_client.providers.containers.removal import session_lives
from universe_client.providers.provider import RemoteAddress
from vnc.session import VNCAddress
from vnc.vncauth import vnc_password

LOG_LINES = 20
_KILLED = 137  # 128 and SIGKILL


class Phase(StrEnum):
    """What a container that comes up is waiting for."""

    DAEMON = "daemon"
    START = "start"
    REWARDER = "rewarder"


class OneContainer:
    """A container that is wanted; every method blocks.

    `stop` may come at any moment of `start`, from another thread: whoever comes last removes the container.
    """

    def __init__(self, engine: Engine, plan: Plan) -> None:
        self.plan = plan
        self.phase: Phase | None = Phase.START
        self.address: RemoteAddress | None = None
        self.task: asyncio.Task[RemoteAddress] | None = None
        self._engine = engine
        self._id: str | None = None
        self._lock = threading.Lock()
        self._stopped = threading.Event()

    def start(self) -> RemoteAddress:
        """Make the container and wait until its remote can be reached.

        Raises:
            EngineError: it cannot be started, or has ended.
        """
        password = secrets.token_urlsafe(16)
        self._make()
        identity = self._existing()
        self._engine.start(identity, msgspec.structs.replace(self.plan.request, password=password))
        self.phase = Phase.REWARDER
        with self._engine.output(identity) as lines:
            if not any(map(_is_ready, lines)):
                raise EngineError("it ended before it could be reached")
        container = self._engine.inspect(identity)
        if container is None or not container.is_running:
            raise EngineError("it ended as soon as it could be reached")
        self.phase = None
        self.address = _address(container, password)
        return self.address

    def _make(self) -> None:
        if not self.is_wanted():
            raise EngineError("it is not wanted")
        identity = self._engine.create(self.plan)
        with self._lock:
            self._id = identity
            wanted = not self._stopped.is_set()
        if not wanted:
            self._engine.remove(identity)
            raise EngineError("it is no longer wanted")

    @property
    def identity(self) -> str | None:
        """The container's id; None before it is made."""
        return self._id

    def _existing(self) -> str:
        assert self._id is not None
        return self._id

    def stop(self) -> None:
        """Remove the container; a `start` under way fails."""
        with self._lock:
            self._stopped.set()
            identity = self._id
        if identity is not None:
            self._engine.remove(identity)

    def inspect(self) -> Container | None:
        """Return the container as it is; None if there is none."""
        return self._engine.inspect(self._id) if self._id is not None else None

    def is_wanted(self) -> bool:
        """Whether its session lives."""
        return session_lives(self._engine, self.plan.labels[SESSION])

    def last_words(self) -> list[str]:
        """Return the end of its log."""
        return self._engine.last_words(self._existing(), LOG_LINES)


def _is_ready(line: str) -> bool:
    try:
        msgspec.json.decode(line, type=Ready)
    except msgspec.DecodeError:
        return False
    return True


def _address(container: Container, password: str) -> RemoteAddress:
    return RemoteAddress(
        VNCAddress(HOST, container.ports[VNC_PORT], vnc_password(password)),
        RewarderAddress(HOST, container.ports[REWARDER_PORT], password),
    )


def how_it_ended(container: Container | None) -> str:
    """Say why a container, which does not run, does not; None is one that is gone."""
    if container is None:
        return "somebody removed it"
    if container.out_of_memory:
        return f"killed for lack of memory, it may have {container.memory >> 20} MiB"
    if container.exit_code == _KILLED:  # by whom, the daemon does not always know
        return f"killed, perhaps for lack of memory: it may have {container.memory >> 20} MiB"
    if container.state == "paused":
        return "somebody paused it"
    return f"ended with status {container.exit_code}"
