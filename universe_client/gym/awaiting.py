"""Waiting for what remotes tell of themselves when they are connected."""

from __future__ import annotations

import time
from collections.abc import Callable

from universe_client.core.link import Link
from universe_client.core.vector import RemoteVector
from universe_client.errors import ConnectError


def await_links(core: RemoteVector, known: Callable[[Link], bool], complaint: str) -> None:
    """Wait until it is `known` of every remote.

    Raises:
        RemoteError: a remote cannot be reached; or, with `complaint`, it is not known within `start_timeout`.
    """
    timeout = core.config.start_timeout
    deadline = time.monotonic() + timeout
    while unknown := [remote.link for remote in core.remotes if not known(remote.link)]:
        for link in unknown:
            if link.errors and link.errors[-1].permanent:
                raise link.errors[-1]
        if time.monotonic() >= deadline:
            names = ", ".join(f"{link.label} {link.state}" for link in unknown)
            raise ConnectError(f"{complaint} within {timeout:g} s", remote=f"[{names}]", stage="connect")
        core.wait(deadline - time.monotonic(), forget=True)
