"""Wait until remotes have connected and reported what an environment needs from them, such as a screen size."""

from __future__ import annotations

import time
from collections.abc import Callable

from rewarder.protocol.features import TICKS
from universe_client.core.link import Link, State
from universe_client.core.vector import RemoteVector
from universe_client.errors import ConnectError, RemoteError


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


def brighten(core: RemoteVector) -> bool:
    """Have the remotes show the brighter of their last two frames, if they run in lock-step and all can do that.

    It waits until they are connected.

    Returns:
        Whether they do; also False if one is not connected within `start_timeout` seconds.
    """
    if core.config.mode != "lockstep":
        return False
    try:
        await_links(core, lambda link: link.state in (State.RESETTING, State.RUNNING), "not connected")
    except RemoteError:
        return False  # the first reset reports it
    paces = [remote.link.pace for remote in core.remotes]
    if any(pace.most_ticks == 1 for pace in paces):
        return False
    for remote, pace in zip(core.remotes, paces, strict=True):
        remote.link.connection.needs = frozenset({TICKS})
        pace.max_last_two = True
    return True
