"""A program of a task in a process group of its own: its output line by line, its end, and that of its children."""

from __future__ import annotations

import os
import select
import signal
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from rewarder.display.task_user import task_user

MAX_LINE = 64 * 1024
"""Bytes taken from a pipe at once, and of an unfinished line; a longer line comes in pieces."""


class Child:
    """A running program, under `task_user()`. Nothing but `wait` waits for it; `freeze` and `kill` wait for the kernel.

    Raises:
        OSError: it cannot be executed.
    """

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        (out, its_out), (err, its_err) = os.pipe(), os.pipe()
        try:
            self._process = task_user().start(command, environment, (its_out, its_err))
        except BaseException:
            os.close(out)
            os.close(err)
            raise
        finally:
            os.close(its_out)
            os.close(its_err)
        self.pid, self._ended = self._process.pid, self._process.pidfd
        self.began = time.monotonic()
        self.stdout, self.stderr = LineReader(out), LineReader(err)

    def files(self) -> list[int]:
        """Return what to `select` for reading: the outputs, and the end."""
        return [self._ended, *(reader.file for reader in (self.stdout, self.stderr) if reader.open)]

    def ended(self) -> bool:
        """Whether the program has ended; the number of its group stays its own until `kill`."""
        return bool(select.select([self._ended], [], [], 0)[0])

    def wait(self, seconds: float) -> None:
        """Wait until the program has ended, at most so long."""
        select.select([self._ended], [], [], seconds)

    def freeze(self) -> None:
        """Stop the program and its group, and wait until it stands still or has ended."""
        with suppress(ProcessLookupError):
            task_user().signal(-self.pid, signal.SIGSTOP)
        # Not `waitid`: a shell whose vforked child was stopped stands still, but is not reported as stopped.
        while self._state() in "RS":
            os.sched_yield()

    def _state(self) -> str:
        """Return the letter of proc(5): R running, S sleeping, T stopped, Z ended, D waiting in the kernel."""
        try:
            return Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()[0]
        except FileNotFoundError:  # somebody else's child, which has been waited for
            return "Z"

    def resume(self) -> None:
        """Let the program and its group go on."""
        with suppress(ProcessLookupError):
            task_user().signal(-self.pid, signal.SIGCONT)

    def kill_group(self) -> None:
        """Kill the program and every process it left in its group."""
        with suppress(ProcessLookupError):
            task_user().signal(-self.pid, signal.SIGKILL)

    def kill(self) -> int:
        """As `kill_group`, and forget it; return the exit status, -9 if it had to be killed."""
        self.kill_group()
        status = self._process.reap()
        for file in (self._ended, self.stdout.file, self.stderr.file):
            os.close(file)
        return status


class LineReader:
    """The lines of a pipe, without ever waiting for one."""

    def __init__(self, file: int) -> None:
        os.set_blocking(file, False)
        self.file = file
        self.open = True
        self._rest = b""

    def lines(self) -> list[str]:
        """Return the lines that have become whole, of at most `MAX_LINE` new bytes."""
        data = self._read()
        *whole, self._rest = (self._rest + data).split(b"\n")
        if self._rest and (len(self._rest) >= MAX_LINE or not self.open):
            whole.append(self._rest)
            self._rest = b""
        return [line.decode("utf-8", "replace") for line in whole]

    def _read(self) -> bytes:
        if not self.open:
            return b""
        try:
            data = os.read(self.file, MAX_LINE)
        except BlockingIOError:
            return b""
        self.open = bool(data)
        return data
