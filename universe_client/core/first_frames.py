"""The errors of a wait for first frames: the permanent error of a remote, or a timeout that names the late remotes."""

from __future__ import annotations

import time
from collections.abc import Sequence

from universe_client.core.remote import Remote
from universe_client.errors import ResetTimeout


def has_failed(remote: Remote) -> bool:
    """Return whether a remote has failed permanently, so that no frame of it will arrive."""
    return remote.error is not None and remote.error.permanent


def check_awaited(awaited: Sequence[Remote], deadline: float, timeout: float) -> None:
    """Raise if the wait for the first frames of `awaited` must end.

    Args:
        awaited: the remotes without a first frame; none is fine.
        deadline: end of the wait, monotonic seconds.
        timeout: length of the wait in seconds, for the message.

    Raises:
        RemoteError: a remote has failed permanently.
        ResetTimeout: the deadline has passed; the message names the remotes and their last errors.
    """
    for remote in awaited:
        if remote.error is not None and remote.error.permanent:
            raise remote.error
    if awaited and time.monotonic() >= deadline:
        names = ", ".join(map(_status, awaited))
        raise ResetTimeout(f"no observation within {timeout:g} s", remote=f"[{names}]", stage="reset")


def _status(remote: Remote) -> str:
    last = "" if remote.error is None else f" after {remote.error.stage}: {remote.error.args[0]}"
    return f"{remote.link.label} {remote.link.state}{last}"
