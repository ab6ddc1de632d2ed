"""Which keys and buttons are down, and where the pointer is, at each moment of an episode."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from universe_client.spaces.key_names import key_name

_BUTTONS = 8


class Columns:
    """The columns of an action array: keys and buttons as 0 or 1, the pointer as shares of the screen.

    Attributes:
        names: of the columns: `key.<name>`, `pointer.x`, `pointer.y`, `button.<number>` from 1; columns of
            zeros follow if there are fewer than two.
    """

    def __init__(self, actions: Iterable[list[list[Any]]]) -> None:
        """Find the keys and buttons in `actions`, the lists of events of a recording."""
        keys: set[int] = set()
        masks, has_pointer = 0, False
        for event in (event for action in actions for event in action):
            if event[0] == "KeyEvent":
                keys.add(event[1])
            else:
                masks, has_pointer = masks | event[3], True
        self._keys = {keysym: column for column, keysym in enumerate(sorted(keys))}
        self._pointer = len(keys) if has_pointer else None
        self._buttons = [button for button in range(_BUTTONS) if masks >> button & 1]
        self.names = [f"key.{key_name(keysym)}" for keysym in sorted(keys)]
        if has_pointer:
            self.names += ["pointer.x", "pointer.y", *(f"button.{button + 1}" for button in self._buttons)]
        # A row with a single number would be no array for LeRobot.
        self.names += ["none.1", "none.2"][: max(2 - len(self.names), 0)]

    def array(
        self,
        actions: Sequence[tuple[int, list[list[Any]]]],
        times: NDArray[np.int64],
        size: tuple[int, int],
    ) -> NDArray[np.float32]:
        """Return a row per time: what goes down before the next one, or is down then.

        Args:
            actions: (time, events), in order.
            times: in order, in nanoseconds.
            size: (width, height) of the screen in pixels.

        Returns:
            float32 of shape (len(times), len(names)).
        """
        rows = np.zeros((len(times), len(self.names)), np.float32)
        now = np.zeros(len(self.names), np.float32)
        waiting = list(reversed(actions))
        for row, until in enumerate([*times[1:].tolist(), None]):
            while waiting and (until is None or waiting[-1][0] < until):
                for event in waiting.pop()[1]:
                    before = now.copy()
                    self._apply(event, now, size)
                    np.maximum(rows[row], now, out=rows[row], where=now > before)
            np.maximum(rows[row], now, out=rows[row])
            self._set_pointer(rows[row], now)
        return rows

    def _apply(self, event: list[Any], now: NDArray[np.float32], size: tuple[int, int]) -> None:
        if event[0] == "KeyEvent":
            now[self._keys[event[1]]] = event[2]
        elif self._pointer is not None:
            _, x, y, mask = event
            now[self._pointer : self._pointer + 2] = x / size[0], y / size[1]
            for column, button in enumerate(self._buttons, self._pointer + 2):
                now[column] = mask >> button & 1

    def _set_pointer(self, row: NDArray[np.float32], now: NDArray[np.float32]) -> None:
        if self._pointer is not None:  # a place has no maximum
            row[self._pointer : self._pointer + 2] = now[self._pointer : self._pointer + 2]
