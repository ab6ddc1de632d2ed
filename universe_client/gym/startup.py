"""Wait until remotes have connected and reported what an environment needs from them, such as a screen size."""

from __future__ import annotations

import time
from collections.abc import Callable

from universe_client.core.link import Link
from universe_client.core.vector import RemoteVector
from universe_client.errors import ConnectError


def await_links(core: RemoteVector, is_known: Callable[[Link], bool], complaint: str) -> None:
    """Wait until `is_known` returns True for the link of every remote.

    Args:
        core: the environment whose remotes connect; its `start_timeout` bounds the wait.
        is_known: whether a link has received what is waited for.
        complaint: the first words of the error after a timeout, such as "no screen".

    Raises:
        RemoteError: a remote has failed permanently, or the wait timed out.
    """
    timeout = core.config.start_timeout
    deadline = time.monotonic() + timeout
    while unknown := [remote.link for remote in core.remotes if not is_known(remote.link)]:
        for link in unknown:
            errors = link.unreported.errors
            if errors and errors[-1].permanent:
                raise errors[-1]
        if time.monotonic() >= deadline:
            names = ", ".join(f"{link.label} {link.state}" for link in unknown)
            raise ConnectError(f"{complaint} within {timeout:g} s", remote=f"[{names}]", stage="connect")
        core.wait(deadline - time.monotonic(), forget=True)
