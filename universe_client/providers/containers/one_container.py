"""One container, from its creation to its removal."""

from __future__ import annotations

import asyncio
import secrets
import threading
from enum import StrEnum

import msgspec

from rewarder.client import RewarderAddress
from rewarder.serving import Ready
from universe_client.providers.containers.daemon import EngineError
from universe_client.providers.containers.engine import REWARDER_PORT, VNC_PORT, Engine
from universe_client.providers.containers.owner import SESSION
from universe_client.providers.containers.records import Container, Plan
from universe_client.providers.containers.removal import session_is_open
from universe_client.providers.provider import RemoteAddress
from vnc.session import VNCAddress
from vnc.tls import TLS
from vnc.vncauth import vnc_password

LOG_LINES = 20
_KILLED = 137  # 128 and SIGKILL


class Phase(StrEnum):
    """The steps of a container's start."""

    DAEMON = "daemon"
    START = "start"
    REWARDER = "rewarder"


class OneContainer:
    """A container of a remote. Every method blocks.

    `stop` may be called from another thread at any moment of `start`: the later of the two removes the container.
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
        """Create and start the container, and wait until its remote can be reached.

        Raises:
            EngineError: the container cannot be started, or has ended.
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
        self.address = _address(container, self.plan, password)
        return self.address

    def _make(self) -> None:
        if not self.is_wanted():
            raise EngineError("its session was ended")
        identity = self._engine.create(self.plan)
        with self._lock:
            self._id = identity
            wanted = not self._stopped.is_set()
        if not wanted:
            self._engine.remove(identity)
            raise EngineError("it was stopped during its start")

    @property
    def identity(self) -> str | None:
        """The container's id; None before it is created."""
        return self._id

    def _existing(self) -> str:
        assert self._id is not None
        return self._id

    def stop(self) -> None:
        """Remove the container; a `start` that is running fails."""
        with self._lock:
            self._stopped.set()
            identity = self._id
        if identity is not None:
            self._engine.remove(identity)

    def inspect(self) -> Container | None:
        """Return the container's present state; None if it does not exist."""
        return self._engine.inspect(self._id) if self._id is not None else None

    def is_wanted(self) -> bool:
        """Return whether its session has not been ended."""
        return session_is_open(self._engine, self.plan.labels[SESSION])

    def last_words(self) -> list[str]:
        """Return the last lines of its log."""
        return self._engine.last_words(self._existing(), LOG_LINES)


def _is_ready(line: str) -> bool:
    try:
        msgspec.json.decode(line, type=Ready)
    except msgspec.DecodeError:
        return False
    return True


def _address(container: Container, plan: Plan, password: str) -> RemoteAddress:
    tls = None if plan.fingerprint is None else TLS(fingerprint=plan.fingerprint)
    return RemoteAddress(
        VNCAddress(plan.host, container.ports[VNC_PORT], vnc_password(password), tls=tls),
        RewarderAddress(plan.host, container.ports[REWARDER_PORT], password, tls),
    )


def how_it_ended(container: Container | None) -> str:
    """Return why a container does not run; None stands for one that was removed."""
    if container is None:
        return "somebody removed it"
    if container.out_of_memory:
        return f"killed because it used more than {container.memory >> 20} MiB of memory"
    if container.exit_code == _KILLED:  # the daemon does not always report the reason
        return f"killed, perhaps because it used more than {container.memory >> 20} MiB of memory"
    if container.state == "paused":
        return "somebody paused it"
    return f"ended with status {container.exit_code}"
