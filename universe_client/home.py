"""Which process the connections, child processes and containers of an environment belong to."""

from __future__ import annotations

from universe_client.errors import LocalStateError
from vnc.client import home


class Home(home.Home):
    """The process that made an environment; a fork of it gets a `LocalStateError`."""

    error = LocalStateError
