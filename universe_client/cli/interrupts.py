"""SIGINT and SIGTERM end a command in one way: an exception that unwinds it, so that every remote is given back."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_STOP = (signal.SIGINT, signal.SIGTERM)
_ECHO = 1.0
"""Seconds in which a second signal is the first one's echo: a terminal and a parent (`uv run`, `timeout`) both send."""


class Interrupted(KeyboardInterrupt):
    """A signal asks the command to end.

    Attributes:
        status: the exit status that shells expect: 130 after SIGINT, 143 after SIGTERM.
    """

    def __init__(self, number: int) -> None:
        super().__init__(signal.strsignal(number))
        self.status = 128 + number


@contextmanager
def interruptible() -> Iterator[None]:
    """Have SIGINT and SIGTERM raise `Interrupted` in the main thread, unless they are ignored (a shell's `command &`).

    Other threads cannot handle signals: for them this changes nothing.
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
    """Raises `Interrupted`, once for all signals that arrive together."""

    def __init__(self) -> None:
        self._last = -_ECHO

    def __call__(self, number: int, _frame: FrameType | None) -> None:
        now = time.monotonic()
        echo, self._last = now - self._last < _ECHO, now
        if not echo:
            raise Interrupted(number)
