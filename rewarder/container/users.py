"""The two users of a container, and how a process becomes one of them."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

_PR_SET_DUMPABLE, _PR_CAPBSET_DROP, _PR_SET_NO_NEW_PRIVS = 4, 24, 38  # linux/prctl.h
_CAPABILITIES = 64  # more than any kernel has


@dataclass(frozen=True, slots=True)
class User:
    """A user id, which is also its group's, and further groups."""

    id: int
    groups: tuple[int, ...] = ()


PLAYER = User(1001)
JUDGE = User(1000, (PLAYER.id,))
"""The judge is in the player's group: it sets up and looks at the files of a task."""


def forgo_privileges() -> None:
    """See to it that no program started from now on gains capabilities; needs CAP_SETPCAP."""
    for capability in range(_CAPABILITIES):
        if _prctl(_PR_CAPBSET_DROP, capability) != 0:
            break  # the kernel knows no more
    if _prctl(_PR_SET_NO_NEW_PRIVS, 1) != 0:
        raise OSError("prctl: the kernel has no no_new_privs")


def become(user: User) -> None:
    """Be that user for good; this gives up all capabilities. Nobody may trace or read this process.

    A program that is executed afterwards is an ordinary one of that user.
    """
    os.setgroups(user.groups)
    os.setresgid(user.id, user.id, user.id)
    os.setresuid(user.id, user.id, user.id)
    _prctl(_PR_SET_DUMPABLE, 0)


@contextmanager
def acting_as(user: int) -> Iterator[None]:
    """Have the rights of `user` to files: root without CAP_DAC_OVERRIDE has those of its own only.

    Raises:
        PermissionError: that is nobody in this container, as under user namespaces.
    """
    try:
        os.seteuid(user)
    except OSError as error:
        raise PermissionError(error.errno, f"this container has no user {user}") from error
    try:
        yield
    finally:
        os.seteuid(0)


def _prctl(option: int, argument: int) -> int:
    result: int = ctypes.CDLL(None, use_errno=True).prctl(option, argument, 0, 0, 0)
    return result
