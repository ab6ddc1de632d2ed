"""The two users of a container, and the system calls with which a process becomes one of them."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

_PR_SET_DUMPABLE, _PR_CAPBSET_DROP, _PR_SET_NO_NEW_PRIVS = 4, 24, 38  # linux/prctl.h
_CAPABILITIES = 64  # no kernel has more


@dataclass(frozen=True, slots=True)
class User:
    """A user id, which is also the id of the user's group, and further groups."""

    id: int
    groups: tuple[int, ...] = ()


PLAYER = User(1001)
JUDGE = User(1000, (PLAYER.id,))
"""The judge is in the player's group, because it creates and reads the files of a task."""


def forgo_privileges() -> None:
    """Prevent programs that are started from now on from gaining capabilities. This needs CAP_SETPCAP."""
    for capability in range(_CAPABILITIES):
        if _prctl(_PR_CAPBSET_DROP, capability) != 0:
            break  # the kernel has no further capability
    if _prctl(_PR_SET_NO_NEW_PRIVS, 1) != 0:
        raise OSError("prctl: the kernel has no no_new_privs")


def become(user: User) -> None:
    """Become that user permanently and drop all capabilities. No process may trace or read this one afterwards.

    This protection ends when the process executes another program.
    """
    os.setgroups(user.groups)
    os.setresgid(user.id, user.id, user.id)
    os.setresuid(user.id, user.id, user.id)
    _prctl(_PR_SET_DUMPABLE, 0)


@contextmanager
def acting_as(user: int) -> Iterator[None]:
    """Access files with the rights of `user`: root without CAP_DAC_OVERRIDE has only its own.

    Raises:
        PermissionError: the container's user namespace does not contain the user.
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
