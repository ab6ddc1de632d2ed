"""Remotes on this machine, one process each: they keep real time whatever the agent does, and end with it."""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import sys
from asyncio.subprocess import PIPE, Process
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import msgspec

from rewarder.client import RewarderAddress
from rewarder.sanitize import clean
from universe_client.errors import ConfigError, ProviderError
from universe_client.home import Home
from universe_client.providers.provider import RemoteAddress
from vnc.session import VNCAddress

logger = logging.getLogger(__name__)

_LOG_LINES = 20
_STOP_TIMEOUT = 5.0
_CANNOT_BE_STARTED = 2  # the exit status with which a remote says that it was asked for what it cannot do


class _Ports(msgspec.Struct):
    """The line a remote prints when it can be reached."""

    vnc_port: int
    rewarder_port: int


@dataclass(slots=True)
class _Child:
    """A remote's process; as long as its stdin is open, its parent lives."""

    process: Process
    log: deque[str]
    reader: asyncio.Task[None]
    address: RemoteAddress | None = None


@dataclass(slots=True)
class EmbeddedProvider:
    """Starts `python -m rewarder serve` for each remote: our own RFB server over the environment's frames.

    Attributes:
        n: how many remotes.
        env_id: what they play at first.
        start_timeout: seconds until one must be reachable.
        arguments: more command-line arguments for the remote.
    """

    n: int
    env_id: str
    start_timeout: float = 60.0
    arguments: Sequence[str] = ()
    _children: dict[int, _Child] = field(default_factory=dict, init=False, repr=False)
    _home: Home = field(default_factory=Home, init=False, repr=False)
    name: ClassVar[str] = "embedded"

    def __post_init__(self) -> None:
        if self.n < 1:
            raise ConfigError(f"{self.name}:{self.n} has no remotes")

    async def acquire(self, index: int) -> RemoteAddress:
        """Return the address of the process, started anew when there is none or it has ended.

        Raises:
            ProviderError: it could not be started.
            LocalStateError: this process was forked from the one that started remotes.
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
            sys.executable, "-P", "-m", "rewarder", "serve", self.env_id,
            "--password-stdin", "--exit-with-stdin", "--log-level", "warning", *self.arguments,
            stdin=PIPE, stdout=PIPE, stderr=PIPE,
            env=os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"} | _import_path(self.env_id),
            start_new_session=True,  # Ctrl-C in the terminal is the agent's; closing stdin is ours
        )  # fmt: skip
        assert process.stdin and process.stdout and process.stderr
        log: deque[str] = deque(maxlen=_LOG_LINES)
        child = _Child(process, log, asyncio.create_task(_keep_last_lines(process.stderr, log)))
        self._children[index] = child
        password = secrets.token_urlsafe(16)
        process.stdin.write(msgspec.json.encode({"password": password}) + b"\n")
        child.address = _address(await self._ports(index, child), password)
        return child.address

    async def _ports(self, index: int, child: _Child) -> _Ports:
        assert child.process.stdout
        try:
            async with asyncio.timeout(self.start_timeout):
                return msgspec.json.decode(await child.process.stdout.readline(), type=_Ports)
        except TimeoutError:
            await self.discard(index)
            raise self._failure(
                index, child, "start", f"not reachable within {self.start_timeout:g} s"
            ) from None
        except msgspec.DecodeError:
            await self.discard(index)
            raise self._failure(index, child, "start", _ended(child)) from None

    def _failure(self, index: int, child: _Child, stage: str, what: str) -> ProviderError:
        lines = "".join(f"\n    {line}" for line in child.log)
        error = ProviderError(
            f"{what}; its last words:{lines or ' none'}", remote=f"{index} ({self.name})", stage=stage
        )
        error.permanent = child.process.returncode == _CANNOT_BE_STARTED
        return error

    async def discard(self, index: int) -> None:
        """End the process: politely by closing its stdin, and by force if that is not heard.

        A fork of the process that started it does nothing.
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


def _import_path(env_id: str) -> dict[str, str]:
    """Return the variables with which a remote finds the module that its env id names where this process does."""
    if ":" not in env_id:
        return {}
    return {"PYTHONPATH": os.pathsep.join(os.path.abspath(folder) for folder in sys.path)}


def _address(ports: _Ports, password: str) -> RemoteAddress:
    host = "127.0.0.1"
    return RemoteAddress(
        VNCAddress(host, ports.vnc_port, password[:8]), RewarderAddress(host, ports.rewarder_port, password)
    )


def _ended(child: _Child) -> str:
    return f"ended with status {child.process.returncode}"


async def _keep_last_lines(stream: asyncio.StreamReader, log: deque[str]) -> None:
    async for line in stream:
        log.append(clean(line.decode("utf-8", "replace").rstrip()))
