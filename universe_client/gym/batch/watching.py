"""A page that shows the remotes of a Gymnasium environment to a person."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from universe_client.core.remote import Slot
from universe_client.gym.batch.rows import Rows
from vnc.events import Event
from vnc.session import Frame

if TYPE_CHECKING:
    from universe_client.wall.server import WallServer
    from universe_client.wall.tiles import Tile


class Watching:
    """The part of both environments that serves the page."""

    render_mode: str | None
    _rows: Rows

    def watch(self, port: int = 0) -> str:
        """Serve a page on this machine with a tile per remote, until the environment is closed; return its address.

        The page shows what `step` returns, the keys that are held, scores, frames per second and reaction times. Its
        pictures are made only while it is open. The address contains a token: whoever has it can watch. A second call
        returns the same address.

        Args:
            port: to listen on, on 127.0.0.1; 0 is any free port.

        Raises:
            ConfigError: the port is not free.
            ClosedEnvironmentError: the environment is closed.
        """
        self._check_open()
        if self._rows.onlooker is None:
            self._rows.onlooker = Onlooker(self._rows, port)
        return self._rows.onlooker.server.url

    def _show(self, render_mode: str | None) -> None:
        """Set the render mode; for "human" print the address of the page."""
        self.render_mode = render_mode
        if render_mode == "human":
            sys.stderr.write(f"watch at {self.watch()}\n")

    def _check_open(self) -> None:
        raise NotImplementedError


class Onlooker:
    """Tells the page what is sent to the remotes, and what they return.

    Attributes:
        server: the page's server.
    """

    def __init__(self, rows: Rows, port: int) -> None:
        from universe_client.wall.server import WallServer
        from universe_client.wall.tiles import Tile

        self._rows = rows
        self._tiles: list[Tile] = [Tile() for _ in range(rows.core.n)]
        self._shown: list[int | None] = [None] * rows.core.n
        width, height = rows.screen_size
        self._unseen: Frame = np.zeros((height, width, 3), np.uint8)
        self.server: WallServer = WallServer(self._tiles, port)

    def send(self, row: int, events: Sequence[Event]) -> None:
        """Show what is sent to a remote."""
        self._tiles[row].send(events, row)

    def receive(self, slots: Mapping[int, Slot]) -> None:
        """Show what a step has returned of some remotes."""
        for row, slot in slots.items():
            observation = slot.observation
            if observation is not None:
                observation = observation | {"vision": self._vision(row)}
            self._tiles[row].receive(observation, slot.reward, slot.info)

    def _vision(self, row: int) -> Frame:
        """Return a frame for the page: a copy, because steps overwrite frames. Without a page it is black."""
        shown = self._tiles[row].vision
        if not self.server.is_watched:
            self._shown[row] = None
            return self._unseen
        taken = self._rows.core.remotes[row].view.taken
        if shown is None or self._shown[row] != taken:
            self._shown[row] = taken
            shown = self._rows.screen(row).copy()
        return shown

    def close(self) -> None:
        """End the page."""
        self.server.close()
