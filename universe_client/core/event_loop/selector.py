"""A selector that tells other threads whether its event loop has processed what has arrived."""

from __future__ import annotations

import select
import selectors
import sys


class IdleSelector(selectors.DefaultSelector):
    """The selector of an event loop; `select` runs on the loop's thread, `is_idle` on any."""

    def __init__(self) -> None:
        super().__init__()
        self._calls = 0  # of `select`
        self._waits = False  # within `select`, and no callback is due

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """See `selectors.BaseSelector.select`."""
        self._calls += 1
        self._waits = timeout is None or timeout > 0
        try:
            return super().select(timeout)
        finally:
            self._waits = False

    def is_idle(self) -> bool:
        """Return whether the loop waits, and none of its descriptors is ready.

        If True, all that had arrived at the call is processed. If False, this is not known.
        """
        # The selector's own descriptor is readable while one of its descriptors is: on Linux only.
        if sys.platform != "linux" or not self._waits:
            return False
        calls = self._calls
        poll = select.poll()  # for this call only: two threads cannot use the same object
        poll.register(self.fileno(), select.POLLIN)
        # While the loop is within one call of `select`, it reads nothing that the poll would have found.
        return not poll.poll(0) and self._waits and self._calls == calls
