"""The agent's end of a zygote, the process that forks the remotes of a provider (`rewarder/zygote.py`)."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
from asyncio.subprocess import DEVNULL, Process
from collections.abc import Mapping
from contextlib import ExitStack, suppress

import msgspec

from universe_client.providers.child import LastWords, connect, end, lines, socket_pair

_KILL_TIMEOUT = 30.0
_WORDS_TIMEOUT = 5.0


def can_fork() -> bool:
    """Return whether a zygote works here, which takes Linux 5.3."""
    if sys.platform != "linux":
        return False
    try:
        os.close(os.pidfd_open(os.getpid()))
    except (AttributeError, OSError):
        return False
    return True


class Forked:
    """A process that a zygote has forked, with those members of `asyncio.subprocess.Process` that providers use.

    Args:
        pid: its id.
        reports: where the zygote reports its end.
        zygote: the zygote.
    """

    def __init__(
        self, pid: int, reports: tuple[asyncio.StreamReader, asyncio.Transport], zygote: Process
    ) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._reports = reports
        self._zygote = zygote
        self._end = asyncio.create_task(self._watch())

    async def wait(self) -> int:
        """Wait for the end of the process; return its status."""
        return await asyncio.shield(self._end)

    def kill(self) -> None:
        """Have the zygote send SIGKILL. A zygote that has not done so after 30 s is killed itself."""
        self._reports[1].write_eof()
        timer = asyncio.get_running_loop().call_later(_KILL_TIMEOUT, self._zygote.kill)
        self._end.add_done_callback(lambda _: timer.cancel())

    async def _watch(self) -> int:
        reader, transport = self._reports
        line = await reader.readline()
        transport.close()
        # Without a report the zygote has ended; the kernel has then sent SIGTERM to the process.
        self.returncode = _report(line)["status"] if line else -signal.SIGTERM
        return self.returncode


class Zygote:
    """A process that forks remotes. It starts with the first of them, and again after it has ended.

    Args:
        env_id: the environment whose runtime it imports; "" imports what all remotes need.
        environment: its environment variables, and those of the remotes.
    """

    def __init__(self, env_id: str, environment: Mapping[str, str]) -> None:
        self._command = (sys.executable, "-P", "-m", "rewarder.zygote", env_id)
        self._environment = environment
        self._turn = asyncio.Lock()
        self._process: Process | None = None
        self._control: socket.socket | None = None
        self._words: LastWords | None = None

    async def fork(self, stdin: int, stdout: int, stderr: int) -> Forked:
        """Fork a remote, with these descriptors.

        Raises:
            OSError: the operating system refuses a fork or a descriptor, or the zygote has ended.
        """
        async with self._turn:  # requests would else wait in the socket, which has room for some of them only
            if self._process is None or self._process.returncode is not None:
                await self.close()
                await self._start()
            return await self._request(stdin, stdout, stderr)

    async def _start(self) -> None:
        with ExitStack() as ours, ExitStack() as theirs:
            control, its_control = socket_pair(ours, theirs)
            stderr, its_stderr = socket_pair(ours, theirs)
            self._process = await asyncio.create_subprocess_exec(
                *self._command,
                stdin=its_control.fileno(),
                stdout=DEVNULL,
                stderr=its_stderr.fileno(),
                env=self._environment,
                start_new_session=True,  # Ctrl-C in the terminal reaches the agent only
            )
            ours.pop_all()
        self._control, self._words = control, LastWords(lines(stderr))

    async def _request(self, *standard: int) -> Forked:
        assert self._process is not None and self._control is not None and self._words is not None
        with ExitStack() as ours:
            with ExitStack() as theirs:
                reports, its_reports = socket_pair(ours, theirs)
                with suppress(BrokenPipeError):  # there is no report then
                    socket.send_fds(self._control, [b"\n"], [its_reports.fileno(), *standard])
            reader, transport = await connect(reports)
            ours.pop_all()
        try:
            line = await reader.readline()
        except asyncio.CancelledError:  # not `finally`, which would run in a fork of this process too
            transport.close()  # the zygote then kills what it has forked
            raise
        report = _report(line) if line else {}
        if "pid" in report:
            return Forked(report["pid"], (reader, transport), self._process)
        transport.close()
        if "errno" in report:
            raise OSError(report["errno"], os.strerror(report["errno"]))
        await self._words.complete(_WORDS_TIMEOUT)
        raise ConnectionError(f"the zygote did not fork it; {self._words}")

    async def close(self) -> None:
        """End the zygote, and with it the remotes that still run. Idempotent."""
        process, self._process = self._process, None
        if process is None:
            return
        assert self._control is not None and self._words is not None
        self._control.close()
        await end(process)
        await self._words.complete()


def _report(line: bytes) -> dict[str, int]:
    return msgspec.json.decode(line, type=dict[str, int])
