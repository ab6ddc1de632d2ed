"""SIGINT and SIGTERM raise an exception that unwinds the command, so that it ends all remotes that it started."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_STOP = (signal.SIGINT, signal.SIGTERM)
_ECHO = 1.0
"""Seconds in which a second signal is ignored: a terminal and a parent (`uv run`, `timeout`) both send one."""


class Interrupted(KeyboardInterrupt):
    """SIGINT or SIGTERM was received.

    Attributes:
        status: the exit status that shells expect: 130 after SIGINT, 143 after SIGTERM.
    """

    def __init__(self, number: int) -> None:
        super().__init__(signal.strsignal(number))
        self.status = 128 + number


@contextmanager
def interruptible() -> Iterator[None]:
    """Make SIGINT and SIGTERM raise `Interrupted`, unless the process ignores them (a shell's `command &`).

    Python runs signal handlers in the main thread only; in other threads this does nothing.
    """
    in_main = threading.current_thread() is threading.main_thread()
    before = {number: signal.getsignal(number) for number in _STOP} if in_main else {}
    handler = _Handler()
    for number, previous in before.items():
        if previous is not signal.SIG_IGN:
            signal.signal(number, handler)
    try:
        yield
    finally:
        for number, previous in before.items():
            signal.signal(number, previous)


class _Handler:
    """Raises `Interrupted` once for all signals that arrive within a second of the previous one."""

    def __init__(self) -> None:
        self._last = -_ECHO

    def __call__(self, number: int, _frame: FrameType | None) -> None:
        now = time.monotonic()
        echo, self._last = now - self._last < _ECHO, now
        if not echo:
            raise Interrupted(number)
