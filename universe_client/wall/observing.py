"""The page of an environment: other code steps the remotes, and passes their input and their results on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from universe_client.core.vector import RemoteVector
from universe_client.wall.server import WallServer
from universe_client.wall.tiles import Tile
from vnc.events import Event
from vnc.session import Frame


class WallPage:
    """Serves a page with a tile per remote; an observer of `universe_client.hands.Computer`.

    Attributes:
        server: the page's server.
        tiles: one for each remote.
    """

    def __init__(self, core: RemoteVector, port: int = 0, *, act: bool = False, lends: bool = True) -> None:
        """Begin to serve the page.

        Args:
            core: the remotes.
            port: to listen on, on 127.0.0.1; 0 is any free one.
            act: whether a page may act on the remotes.
            lends: whether later steps change the pixels of an observation.

        Raises:
            ConfigError: the port is not free.
        """
        self._core, self._lends = core, lends
        self._shown: list[int | None] = [None] * core.n  # `View.taken` of the frames that the tiles have
        self.tiles = [Tile() for _ in range(core.n)]
        self.server = WallServer(self.tiles, port, act=act)

    def reset(self, options: Mapping[str, object]) -> None:
        """Do nothing: what comes of a reset is received."""

    def act(self, index: int, action: Sequence[Event]) -> None:
        """Show what is sent to a remote."""
        self.tiles[index].send(action)

    def receive(
        self,
        index: int,
        observation: Mapping[str, Any] | None,
        reward: float | None,
        info: Mapping[str, Any],
        screen: Callable[[], Frame] | None = None,
    ) -> None:
        """Show what a step has returned of a remote. Lent pixels are copied only if they are new and somebody looks.

        Args:
            index: the remote.
            observation: the entry of the remote.
            reward: the entry of the remote.
            info: the entry of the remote.
            screen: returns the frame to show; None shows `observation["vision"]`.
        """
        if observation is not None:
            observation = {**observation, "vision": self._vision(index, observation["vision"], screen)}
        self.tiles[index].receive(observation, reward, info)

    def _vision(self, index: int, vision: Frame, screen: Callable[[], Frame] | None) -> Frame:
        shown, taken = self.tiles[index].vision, self._core.remotes[index].view.taken
        if self._lends and not self.server.is_watched:
            self._shown[index] = None
            if screen is None:
                return vision
            return np.zeros((*vision.shape[:2], 3), np.uint8) if shown is None else shown
        if shown is None or self._shown[index] != taken:
            self._shown[index] = taken
            shown = vision if screen is None else screen()
            shown = shown.copy() if self._lends else shown
        return shown

    def close(self) -> None:
        """End the page."""
        self.server.close()
