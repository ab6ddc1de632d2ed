"""The page as an observer: other code steps the remotes, and passes their input and their results on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from universe_client.wall.server import WallServer
from universe_client.wall.tiles import Tile


class WallPage:
    """Serves the page of `wrappers.Watch`; an observer of `universe_client.hands.Computer`.

    Attributes:
        url: the address to open in a browser. It contains a token: whoever has it can watch.
    """

    def __init__(self, n: int, port: int = 0) -> None:
        """Serve `n` tiles on 127.0.0.1; port 0 is any free one.

        Raises:
            ConfigError: the port is not free.
        """
        self._tiles = [Tile() for _ in range(n)]
        self._server = WallServer(self._tiles, port)
        self.url = self._server.url

    def reset(self, options: Mapping[str, object]) -> None:
        """Do nothing: what comes of a reset is received."""

    def act(self, index: int, action: Sequence[object]) -> None:
        """Show what is sent."""
        self._tiles[index].send(action, index)

    def receive(
        self, index: int, observation: Mapping[str, Any] | None, reward: float | None, info: Mapping[str, Any]
    ) -> None:
        """Show what has come; the pixels are copied if somebody looks."""
        shown = self._tiles[index].vision
        if observation is not None and self._server.is_watched:
            is_new = shown is None or not shown.flags.owndata or info["stats.vnc.updates.n"]
            observation = {**observation, "vision": observation["vision"].copy() if is_new else shown}
        self._tiles[index].receive(observation, reward, info)

    def close(self) -> None:
        """End the page."""
        self._server.close()
