"""A program in a process group of its own: its output in lines, its end, and the end of its children."""

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
"""Bytes of one read from a pipe, and of an unfinished line; a longer line is returned in pieces."""


class Child:
    """A running program of `task_user()`. Only `wait` waits for the program; `freeze` and `kill` wait for the kernel.

    Raises:
        OSError: the program cannot be executed.
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
        """Return descriptors to `select` for reading: the outputs, and the end of the program."""
        return [self._ended, *(reader.file for reader in (self.stdout, self.stderr) if reader.open)]

    def ended(self) -> bool:
        """Return whether the program has ended. Its process id is not reused before `kill`."""
        return bool(select.select([self._ended], [], [], 0)[0])

    def wait(self, seconds: float) -> None:
        """Wait until the program has ended, at most for `seconds`."""
        select.select([self._ended], [], [], seconds)

    def freeze(self) -> None:
        """Stop the program and its group, and wait until it is stopped or has ended."""
        with suppress(ProcessLookupError):
            task_user().signal(-self.pid, signal.SIGSTOP)
        # `waitid` does not report a shell as stopped while it waits for its stopped, vforked child.
        while self._state() in "RS":
            os.sched_yield()

    def _state(self) -> str:
        """Return the letter of proc(5): R running, S sleeping, T stopped, Z ended, D waiting in the kernel."""
        try:
            return Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()[0]
        except FileNotFoundError:  # another user's child, which has been reaped
            return "Z"

    def resume(self) -> None:
        """Continue the program and its group."""
        with suppress(ProcessLookupError):
            task_user().signal(-self.pid, signal.SIGCONT)

    def kill_group(self) -> None:
        """Kill all processes of the program's group."""
        with suppress(ProcessLookupError):
            task_user().signal(-self.pid, signal.SIGKILL)

    def kill(self) -> int:
        """Kill the group and reap the program; return its exit status, -9 if it was killed."""
        self.kill_group()
        status = self._process.reap()
        for file in (self._ended, self.stdout.file, self.stderr.file):
            os.close(file)
        return status


class LineReader:
    """Reads lines from a pipe without waiting."""

    def __init__(self, file: int) -> None:
        os.set_blocking(file, False)
        self.file = file
        self.open = True
        self._rest = b""

    def lines(self) -> list[str]:
        """Read at most `MAX_LINE` bytes; return the lines that are complete."""
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
