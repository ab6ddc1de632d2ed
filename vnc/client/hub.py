"""The reader threads of an event loop, and the calls of sessions with news."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from typing import Any, ClassVar
from weakref import WeakKeyDictionary

from vnc import _core

_MOST_THREADS = 4

Opening = Callable[[_core.Pump], _core.Session]
"""Opens one session on a pump."""


class Hub:
    """The pump of one event loop; it exists as long as the loop has sessions."""

    _of_loop: ClassVar[WeakKeyDictionary[asyncio.AbstractEventLoop, Hub]] = WeakKeyDictionary()

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.pump = _core.Pump(min(_MOST_THREADS, os.cpu_count() or 1))
        self._loop = loop
        self._sessions: dict[int, Callable[[], Any]] = {}
        self._of_loop[loop] = self
        try:
            loop.add_reader(self.pump.fileno(), self._news)
        except BaseException:
            self._close()
            raise

    @classmethod
    def open(cls, opening: Opening, changed: Callable[[], Any]) -> tuple[Hub, _core.Session]:
        """Open a session on the pump of the running loop, which calls `changed` when the session's state changes.

        Raises:
            OSError: the system refuses; no pump remains without a session.
        """
        loop = asyncio.get_running_loop()
        hub = cls._of_loop.get(loop) or cls(loop)
        try:
            session = opening(hub.pump)
        except BaseException:
            hub._close_if_empty()
            raise
        hub._sessions[session.id] = changed
        return hub, session

    def forget(self, session: _core.Session) -> None:
        """Listen to a session no longer; the pump ends with its last session."""
        if self._sessions.pop(session.id, None) is not None:
            self._close_if_empty()

    def _close_if_empty(self) -> None:
        if not self._sessions:
            self._close()

    def _close(self) -> None:
        del self._of_loop[self._loop]
        self._loop.remove_reader(self.pump.fileno())
        self.pump.close()

    def _news(self) -> None:
        for number in self.pump.drain():
            if (changed := self._sessions.get(number)) is not None:
                # As separate callbacks, so that an exception in one does not prevent the others.
                self._loop.call_soon(changed)
