"""Which process connections, child processes and containers belong to: the one that made them, not a fork of it."""

from __future__ import annotations

import os
from typing import Any

from universe_client.errors import LocalStateError


class Home:
    """The process that was the first to `enter`.

    A forked process has copies of the sockets, threads' locks and process handles of its parent. Were it to use or to
    close them, it would do so to the parent's.
    """

    def __init__(self) -> None:
        self._pid: int | None = None

    def enter(self) -> None:
        """Make this process the home, if there is none yet.

        Raises:
            LocalStateError: this process was forked from the home.
        """
        if self.is_elsewhere:
            raise LocalStateError(
                "this process was forked from the one that made the environment: make another"
            )
        self._pid = os.getpid()

    @property
    def is_elsewhere(self) -> bool:
        """Whether another process is the home."""
        return self._pid not in (None, os.getpid())

    def __reduce__(self) -> tuple[type[Home], tuple[Any, ...]]:
        """Pickle without a home: what is unpickled has nothing of the process that pickled it."""
        return Home, ()
