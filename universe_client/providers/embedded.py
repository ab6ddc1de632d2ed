"""Remotes on this machine, one process each. They keep real time while the agent computes, and end with it."""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import sys
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import ClassVar

import msgspec

from rewarder.client import RewarderAddress
from rewarder.serving import Ready, Request, Serving
from universe_client.errors import ConfigError, ProviderError
from universe_client.home import Home
from universe_client.providers.child import LastWords, Running, Stdin, connect, end, lines, socket_pair
from universe_client.providers.piped import Piped
from universe_client.providers.provider import RemoteAddress
from universe_client.providers.zygote import Zygote, can_fork
from universe_client.renamed import refuse_old_names
from vnc.session import VNCAddress
from vnc.vncauth import vnc_password

logger = logging.getLogger(__name__)

_HOST = "127.0.0.1"
_CANNOT_START = 2  # the exit status of a remote that refuses its env id or its options


@dataclass(slots=True)
class _Child:
    """A remote's process, which ends when its stdin is closed."""

    process: Running
    stdin: Stdin
    stdout: asyncio.StreamReader
    words: LastWords
    address: RemoteAddress | None = None


@refuse_old_names
@dataclass(slots=True)
class EmbeddedProvider:
    """Starts one process per remote, which plays an environment and serves its frames over VNC (`embedded:N`).

    On Linux the processes are forks of one process, which has imported what they need, but no module of the user. A
    process that ends is replaced when its remote reconnects. It listens on 127.0.0.1, with a random password that it
    receives over a pipe.

    Args:
        n: the number of remotes, at least 1.
        env_id: the environment to play, `builtin.*` or `gym-core.*`, or one that `serving.runtime` plays.
        start_timeout: seconds that one process may take until its remote can be reached.
        serving: the options of each remote; where it listens is the provider's choice.

    Raises:
        ConfigError: `n` is less than 1.
    """

    n: int
    env_id: str
    start_timeout: float = 60.0
    serving: Serving = field(default_factory=Serving)
    _children: dict[int, _Child] = field(default_factory=dict, init=False, repr=False)
    _home: Home = field(default_factory=Home, init=False, repr=False)
    _zygote: Zygote | None = field(default=None, init=False, repr=False)
    name: ClassVar[str] = "embedded"

    def __post_init__(self) -> None:
        if self.n < 1:
            raise ConfigError(f"{self.name}:{self.n} has no remotes: the number is at least 1")

    async def acquire(self, index: int) -> RemoteAddress:
        """Return the address of remote `index`; start its process if there is none or it has ended.

        Raises:
            ProviderError: the process did not start.
            LocalStateError: this process is a fork of the one that started the remotes.
        """
        self._home.enter()
        child = self._children.get(index)
        if child is not None and child.address is not None and child.process.returncode is None:
            return child.address
        ended = child is not None and child.process.returncode is not None
        await self.discard(index)
        if child is not None and ended:
            logger.warning("! %s", self._failure(index, child, "run", _ended(child)))
        return await self._start(index)

    async def _start(self, index: int) -> RemoteAddress:
        password = secrets.token_urlsafe(16)
        child: _Child | None = None
        try:
            async with asyncio.timeout(self.start_timeout):
                child = self._children[index] = await self._launch()
                child.stdin.write(msgspec.json.encode(self._request(password)) + b"\n")
                ready = await _ready(child)
        except TimeoutError:
            await self.discard(index)
            raise self._failure(
                index, child, "start", f"not reachable within {self.start_timeout:g} s"
            ) from None
        if ready is None:
            await self.discard(index)
            raise self._failure(index, child, "start", _ended(child))
        child.address = self._address(ready, password)
        return child.address

    async def _launch(self) -> _Child:
        environment = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"} | self._import_path()
        if can_fork():
            self._zygote = self._zygote or Zygote(self._preloaded(), environment)
            return await self._fork(self._zygote)
        process = Piped((sys.executable, "-P", "-m", "rewarder"), environment)
        return _Child(process, process, process.stdout, LastWords(process.stderr))

    async def _fork(self, zygote: Zygote) -> _Child:
        with ExitStack() as ours:
            with ExitStack() as theirs:
                stdio, its_stdio = socket_pair(ours, theirs)
                stderr, its_stderr = socket_pair(ours, theirs)
                process = await zygote.fork(its_stdio.fileno(), its_stdio.fileno(), its_stderr.fileno())
            stdout, stdin = await connect(stdio)
            ours.pop_all()
        return _Child(process, stdin, stdout, LastWords(lines(stderr)))

    def _preloaded(self) -> str:
        """Return the env id whose runtime the remotes share."""
        return self.env_id if self.serving.runtime is None else ""

    def _address(self, ready: Ready, password: str) -> RemoteAddress:
        return RemoteAddress(
            VNCAddress(_HOST, ready.mirror_port or ready.vnc_port, vnc_password(password)),
            RewarderAddress(_HOST, ready.rewarder_port, password),
        )

    def _request(self, password: str) -> Request:
        serving = msgspec.structs.replace(self.serving, host=_HOST, vnc_port=0, rewarder_port=0)
        return Request(env_id=self.env_id, serving=serving, password=password, log_level="warning")

    def _import_path(self) -> dict[str, str]:
        """Return the variables with which a remote imports modules of the user from where this process does."""
        if ":" not in self.env_id and self.serving.runtime is None:
            return {}
        return {"PYTHONPATH": os.pathsep.join(os.path.abspath(folder) for folder in sys.path)}

    def _failure(self, index: int, child: _Child | None, stage: str, reason: str) -> ProviderError:
        words = f"; {child.words}" if child is not None else ""
        error = ProviderError(reason + words, remote=f"{index} ({self.name})", stage=stage)
        error.permanent = child is not None and child.process.returncode == _CANNOT_START
        return error

    async def discard(self, index: int) -> None:
        """End the process of remote `index`: close its stdin, and kill it if it does not end within 5 s.

        This does nothing in a fork of the process that started it.
        """
        if self._home.is_elsewhere:
            return
        child = self._children.pop(index, None)
        if child is None:
            return
        child.stdin.close()
        await end(child.process)
        await child.words.complete()

    async def close(self) -> None:
        """End every process."""
        await asyncio.gather(*(self.discard(index) for index in list(self._children)))
        zygote, self._zygote = self._zygote, None
        if zygote is not None and not self._home.is_elsewhere:
            await zygote.close()


async def _ready(child: _Child) -> Ready | None:
    """Return what a remote prints when it can be reached; None if it ends before."""
    try:
        return msgspec.json.decode(await child.stdout.readline(), type=Ready)
    except (msgspec.DecodeError, ConnectionError):  # a reset if it has not read its request
        return None


def _ended(child: _Child) -> str:
    return f"ended with status {child.process.returncode}"
