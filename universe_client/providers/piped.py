"""Processes whose pipes threads read, for systems without zygotes: on Windows, asyncio's selector loop starts none."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import IO

_READ = 64 * 1024  # bytes read at a time
_FLAGS = 0
if sys.platform == "win32":
    _FLAGS = subprocess.CREATE_NEW_PROCESS_GROUP


class Piped:
    """A process, with those members of `asyncio.subprocess.Process` that providers use.

    Args:
        command: what to run.
        environment: its environment variables.

    Raises:
        OSError: the operating system refuses a process, or its pipes.
    """

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        self._process = subprocess.Popen(
            command,
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
            creationflags=_FLAGS,
            start_new_session=True,  # Ctrl-C in the terminal reaches the agent only, which then closes stdin
        )
        self._loop = asyncio.get_running_loop()
        self._ended: asyncio.Future[int] = self._loop.create_future()
        self.stdout, self.stderr = asyncio.StreamReader(), asyncio.StreamReader()
        self._start(lambda: self._read(self._process.stdout, self.stdout))
        self._start(lambda: self._read(self._process.stderr, self.stderr))
        self._start(lambda: self._call(self._end, self._process.wait()))

    @property
    def pid(self) -> int:
        """Its id."""
        return self._process.pid

    @property
    def returncode(self) -> int | None:
        """Its exit status, or the negative number of the signal that ended it; None while it runs."""
        return self._process.returncode

    async def wait(self) -> int:
        """Wait for its end; return the status."""
        return await asyncio.shield(self._ended)

    def kill(self) -> None:
        """Kill it."""
        self._process.kill()

    def write(self, data: bytes) -> None:
        """Write to its stdin what a pipe has room for."""
        assert self._process.stdin is not None
        with suppress(OSError):  # it has ended: its stdout ends too
            self._process.stdin.write(data)

    def close(self) -> None:
        """Close its stdin."""
        assert self._process.stdin is not None
        self._process.stdin.close()

    def _start(self, target: Callable[[], object]) -> None:
        threading.Thread(target=target, name=f"pipes of process {self.pid}", daemon=True).start()

    def _read(self, pipe: IO[bytes] | None, reader: asyncio.StreamReader) -> None:
        assert pipe is not None
        with pipe:
            while data := pipe.read(_READ):
                self._call(reader.feed_data, data)
        self._call(reader.feed_eof)

    def _end(self, status: int) -> None:
        if not self._ended.done():  # cancelled, with all tasks of its loop
            self._ended.set_result(status)

    def _call(self, function: Callable[..., object], *arguments: object) -> None:
        with suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(function, *arguments)
