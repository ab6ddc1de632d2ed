"""Whose a container is: labels that tell, long after a crash, whether the process that started it still lives."""

from __future__ import annotations

import getpass
import os
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

PREFIX = "universe-client."
SESSION = PREFIX + "session"
_MACHINE, _BOOT, _USER = PREFIX + "machine", PREFIX + "boot", PREFIX + "user"
_PID, _STARTED = PREFIX + "pid", PREFIX + "started"


@dataclass(frozen=True, slots=True)
class Owner:
    """A process, told apart from any other that ever had its number.

    Attributes:
        machine: where it runs.
        boot: since which start of that machine, and in which process namespace.
        user: its user id.
        pid: its number.
        started: when it began, in the kernel's ticks; empty where the kernel does not say.
    """

    machine: str
    boot: str
    user: str
    pid: int
    started: str

    @classmethod
    def here(cls) -> Owner:
        """Return this process."""
        pid = os.getpid()
        return cls(_machine(), _boot(), _user(), pid, _started(pid) or "")

    @classmethod
    def of(cls, labels: Mapping[str, str]) -> Owner | None:
        """Return the owner that the labels name; None if we did not write them."""
        pid = labels.get(_PID, "")
        if SESSION not in labels or not pid.isdecimal():
            return None
        machine, boot, user, started = (labels.get(key, "") for key in (_MACHINE, _BOOT, _USER, _STARTED))
        return cls(machine, boot, user, int(pid), started)

    @property
    def labels(self) -> dict[str, str]:
        """What `of` reads again."""
        return {
            _MACHINE: self.machine,
            _BOOT: self.boot,
            _USER: self.user,
            _PID: str(self.pid),
            _STARTED: self.started,
        }

    @property
    def is_local(self) -> bool:
        """Whether it is (or was) a process of this user on this machine: of others nothing is known."""
        return self.machine == _machine() and self.user == _user()

    @property
    def is_dead(self) -> bool:
        """Whether it certainly lives no more."""
        return self.is_local and (self.boot != _boot() or _started(self.pid) != self.started)


@cache
def _machine() -> str:
    identity = Path("/etc/machine-id")
    known = identity.read_text().strip() if identity.exists() else ""
    return f"{platform.node()} {known}".strip()


def _user() -> str:
    return str(os.getuid()) if hasattr(os, "getuid") else getpass.getuser()


@cache
def _boot() -> str:
    boot = Path("/proc/sys/kernel/random/boot_id")
    if not boot.exists():
        return ""
    return f"{boot.read_text().strip()} {os.readlink('/proc/self/ns/pid')}"


def _started(pid: int) -> str | None:
    """Return when the process began; None if it has ended, "" if it lives and no more is known."""
    if not Path("/proc/self/stat").exists():
        return "" if _answers(pid) else None
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    state, *fields = stat.rpartition(")")[2].split()
    return None if state in "ZX" else fields[18]  # proc_pid_stat(5): 3 is the state, 22 the start


def _answers(pid: int) -> bool:
    if os.name != "posix":
        return True  # there, signal 0 would end it
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
