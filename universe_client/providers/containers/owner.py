"""The owner of a container: labels that show, also after a crash, whether the process that started it still runs."""

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
    """A process, identified so that no later process with the same number is mistaken for it.

    Attributes:
        machine: the machine's name and id.
        boot: the id of the machine's boot, and the process namespace.
        user: the user id.
        pid: the process id.
        started: the start time in the kernel's clock ticks; empty on systems without `/proc`.
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
        """Return the owner that the labels describe; None if this package did not write them."""
        pid = labels.get(_PID, "")
        if SESSION not in labels or not pid.isdecimal():
            return None
        machine, boot, user, started = (labels.get(key, "") for key in (_MACHINE, _BOOT, _USER, _STARTED))
        return cls(machine, boot, user, int(pid), started)

    @property
    def labels(self) -> dict[str, str]:
        """The labels that `of` reads."""
        return {
            _MACHINE: self.machine,
            _BOOT: self.boot,
            _USER: self.user,
            _PID: str(self.pid),
            _STARTED: self.started,
        }

    @property
    def is_local(self) -> bool:
        """Whether it is or was a process of this user on this machine; the state of others is unknown."""
        return self.machine == _machine() and self.user == _user()

    @property
    def has_ended(self) -> bool:
        """Whether it has certainly ended."""
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
    """Return the start time of a process: None if it has ended, "" if it runs and the time is unknown."""
    if not Path("/proc/self/stat").exists():
        return "" if _exists(pid) else None
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    state, *fields = stat.rpartition(")")[2].split()
    return None if state in "ZX" else fields[18]  # proc_pid_stat(5): 3 is the state, 22 the start


def _exists(pid: int) -> bool:
    if os.name != "posix":
        return True  # signal 0 would end the process on Windows
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
