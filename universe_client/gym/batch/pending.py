"""The order of calls per row: `send` before `recv`, and `reset` before `send`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from gymnasium.error import AlreadyPendingCallError, NoAsyncCallError, ResetNeeded
from numpy.typing import NDArray

from universe_client.errors import ConfigError


class PendingSteps:
    """Which rows have results to receive, and which need a reset before the next action.

    Attributes:
        is_due: bool (n,): rows to which an action was sent, and whose result has not been received.
        needs_reset: bool (n,): rows that have no episode.
    """

    def __init__(self, n: int) -> None:
        """Begin with `n` rows that need a reset."""
        self.is_due = np.zeros(n, np.bool_)
        self.needs_reset = np.ones(n, np.bool_)
        self._sent = np.zeros(n, np.int64)  # the number of the newest send to each row
        self._sends = 0

    def rows(self, ids: Sequence[int] | NDArray[np.integer] | None) -> list[int]:
        """Return the row numbers that the argument `ids` selects; None selects all.

        Raises:
            ConfigError: an id is out of range or occurs twice.
        """
        n = len(self.is_due)
        if ids is None:
            return list(range(n))
        rows = [int(index) for index in ids]
        if len(set(rows)) != len(rows) or not all(0 <= row < n for row in rows):
            raise ConfigError(f"ids={rows!r} must be different numbers from 0 to {n - 1}")
        return rows

    def expect(self, rows: Sequence[int]) -> None:
        """Note that an action was sent to each of `rows`."""
        self._sends += 1
        self._sent[rows], self.is_due[rows] = self._sends, True

    def oldest(self, rows: list[int], most: int | None) -> list[int]:
        """Return at most `most` of `rows`, in order: those whose actions were sent first."""
        return sorted(sorted(rows, key=self._sent.__getitem__)[:most])

    def due(self) -> list[int]:
        """Return the rows that have results to receive.

        Raises:
            NoAsyncCallError: there are none.
        """
        rows = [int(row) for row in np.flatnonzero(self.is_due)]
        if not rows:
            raise NoAsyncCallError("recv() without a send() before it: call send() first", "recv")
        return rows

    def check_idle(self, rows: Sequence[int]) -> None:
        """Raise AlreadyPendingCallError if one of `rows` has results to receive."""
        busy = [row for row in rows if self.is_due[row]]
        if busy:
            raise AlreadyPendingCallError(
                f"call recv() first: remotes {busy} have results to receive", "send"
            )

    def check_reset(self, rows: Sequence[int]) -> None:
        """Raise ResetNeeded if one of `rows` has no episode."""
        over = [row for row in rows if self.needs_reset[row]]
        if over:
            raise ResetNeeded(
                f"remotes {over} have no episode: call reset(); a reset_mask selects the remotes whose episodes ended"
            )
