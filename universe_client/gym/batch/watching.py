"""A page that shows the remotes of a Gymnasium environment to a person."""

from __future__ import annotations

import sys

from universe_client.gym.batch.rows import Rows


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
        if self._rows.page is None:
            from universe_client.wall.observing import WallPage

            self._rows.page = WallPage(self._rows.core, port)
        return self._rows.page.server.url

    def _show(self, render_mode: str | None) -> None:
        """Set the render mode; for "human" print the address of the page."""
        self.render_mode = render_mode
        if render_mode == "human":
            sys.stderr.write(f"watch at {self.watch()}\n")

    def _check_open(self) -> None:
        raise NotImplementedError
