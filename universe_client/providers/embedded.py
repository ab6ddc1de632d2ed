"""Remotes on this machine, one process each. They keep real time while the agent computes, and end with it."""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import sys
from asyncio.subprocess import PIPE, Process
from collections import deque
from dataclasses import dataclass, field
from typing import ClassVar

import msgspec

from rewarder.client import RewarderAddress
from rewarder.sanitize import clean
from rewarder.serving import Ready, Request, Serving
from universe_client.errors import ConfigError, ProviderError
from universe_client.home import Home
from universe_client.providers.provider import RemoteAddress
from universe_client.renamed import refuse_old_names
from vnc.session import VNCAddress
from vnc.vncauth import vnc_password

logger = logging.getLogger(__name__)

_HOST = "127.0.0.1"
_LOG_LINES = 20
_STOP_TIMEOUT = 5.0
_CANNOT_START = 2  # the exit status of a remote that refuses its env id or its options


@dataclass(slots=True)
class _Child:
    """A remote's process, which ends when its stdin is closed."""

    process: Process
    log: deque[str]
    reader: asyncio.Task[None]
    address: RemoteAddress | None = None


@refuse_old_names
@dataclass(slots=True)
class EmbeddedProvider:
    """Starts one process per remote, which plays an environment and serves its frames over VNC (`embedded:N`).

    A process that ends is replaced when its remote reconnects. It listens on 127.0.0.1, with a random password that it
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
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-P", "-m", "rewarder",
            stdin=PIPE, stdout=PIPE, stderr=PIPE,
            env=os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"} | self._import_path(),
            start_new_session=True,  # Ctrl-C in the terminal reaches the agent only, which then closes stdin
        )  # fmt: skip
        assert process.stdin and process.stdout and process.stderr
        log: deque[str] = deque(maxlen=_LOG_LINES)
        child = _Child(process, log, asyncio.create_task(_keep_last_lines(process.stderr, log)))
        self._children[index] = child
        password = secrets.token_urlsafe(16)
        process.stdin.write(msgspec.json.encode(self._request(password)) + b"\n")
        child.address = _address(await self._ready(index, child), password)
        return child.address

    def _request(self, password: str) -> Request:
        serving = msgspec.structs.replace(self.serving, host=_HOST, vnc_port=0, rewarder_port=0)
        return Request(env_id=self.env_id, serving=serving, password=password, log_level="warning")

    def _import_path(self) -> dict[str, str]:
        """Return the variables with which a remote imports modules of the user from where this process does."""
        if ":" not in self.env_id and self.serving.runtime is None:
            return {}
        return {"PYTHONPATH": os.pathsep.join(os.path.abspath(folder) for folder in sys.path)}

    async def _ready(self, index: int, child: _Child) -> Ready:
        assert child.process.stdout
        try:
            async with asyncio.timeout(self.start_timeout):
                return msgspec.json.decode(await child.process.stdout.readline(), type=Ready)
        except TimeoutError:
            await self.discard(index)
            raise self._failure(
                index, child, "start", f"not reachable within {self.start_timeout:g} s"
            ) from None
        except msgspec.DecodeError:
            await self.discard(index)
            raise self._failure(index, child, "start", _ended(child)) from None

    def _failure(self, index: int, child: _Child, stage: str, reason: str) -> ProviderError:
        lines = "".join(f"\n    {line}" for line in child.log)
        error = ProviderError(
            f"{reason}; its last words:{lines or ' none'}", remote=f"{index} ({self.name})", stage=stage
        )
        error.permanent = child.process.returncode == _CANNOT_START
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
        assert child.process.stdin
        child.process.stdin.close()
        try:
            async with asyncio.timeout(_STOP_TIMEOUT):
                await child.process.wait()
        except TimeoutError:
            child.process.kill()
            await child.process.wait()
        await child.reader

    async def close(self) -> None:
        """End every process."""
        await asyncio.gather(*(self.discard(index) for index in list(self._children)))


def _address(ready: Ready, password: str) -> RemoteAddress:
    return RemoteAddress(
        VNCAddress(_HOST, ready.vnc_port, vnc_password(password)),
        RewarderAddress(_HOST, ready.rewarder_port, password),
    )


def _ended(child: _Child) -> str:
    return f"ended with status {child.process.returncode}"


async def _keep_last_lines(stream: asyncio.StreamReader, log: deque[str]) -> None:
    async for line in stream:
        log.append(clean(line.decode("utf-8", "replace").rstrip()))
