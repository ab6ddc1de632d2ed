"""One remote as `call`, `get_attr` and `set_attr` of the vector face see it."""

from __future__ import annotations

from typing import Any

import gymnasium

from universe_client.rows import Rows
from vnc.session import Frame


class RemoteFacade:
    """What is known on this side of one remote, and whatever `set_attr` adds to it.

    Attributes:
        index: which one.
        action_space, observation_space: its spaces.
    """

    render_mode = "rgb_array"

    def __init__(
        self,
        rows: Rows,
        index: int,
        action_space: gymnasium.Space[Any],
        observation_space: gymnasium.Space[Any],
    ) -> None:
        """Show row `index`."""
        self.index = index
        self.action_space, self.observation_space = action_space, observation_space
        self._rows = rows
        self._remote = rows.core.remotes[index]

    @property
    def env_id(self) -> str | None:
        """What it was asked to play."""
        return self._rows.core.env_id

    @property
    def address(self) -> str:
        """Where it is, without passwords."""
        return str(self._remote.link.address)

    @property
    def state(self) -> str:
        """See `universe_client.link.State`."""
        return str(self._remote.link.state)

    @property
    def error(self) -> str | None:
        """What happened to it last."""
        return None if self._remote.error is None else str(self._remote.error)

    def render(self) -> Frame:
        """Return a copy of its newest frame."""
        frame: Frame = self._rows.frames[self.index].copy()
        return frame

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(
            f"nothing called {name!r} is known on this side of remote {self.index}; "
            "attributes of the environment inside a remote are out of reach"
        )

    def __repr__(self) -> str:
        return f"<RemoteFacade {self._remote.link.label} {self.state}>"
