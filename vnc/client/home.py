"""Protection of sockets, threads and child processes against use by a fork of the process that made them."""

from __future__ import annotations

import os
from typing import Any, Self


class Home:
    """The process that was the first to `enter`.

    A forked process has copies of its parent's sockets, locks and process handles, but not of its threads. If it used
    or closed them, it would do so to its parent's, and a lock that a thread of the parent held would stay locked.
    """

    error: type[RuntimeError] = RuntimeError

    def __init__(self) -> None:
        self._pid: int | None = None

    def enter(self) -> Self:
        """Make this process the home if there is none yet.

        Raises:
            RuntimeError: this process was forked from the home; subclasses raise their `error`.
        """
        if self.is_elsewhere:
            raise self.error(
                "this process was forked from the one that opened it: open another in this process"
            )
        self._pid = os.getpid()
        return self

    @property
    def is_elsewhere(self) -> bool:
        """Whether another process is the home."""
        return self._pid not in (None, os.getpid())

    def __reduce__(self) -> tuple[type[Self], tuple[Any, ...]]:
        """Pickle without the home: the unpickled object owns nothing yet."""
        return type(self), ()
