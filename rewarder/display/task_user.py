"""The user that runs the programs of a task: this process's user or, in our containers, the user `player`.

`task_user()` returns it. Outside of containers there is one user, and an agent can do what that user can. In a
container, programs run as another user (see `rewarder.container`), which can neither signal, trace nor read this
process. That user shares the directories made here through its group.
"""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Protocol

from rewarder.container.spawner import CONTROL, MAX_MESSAGE
from rewarder.container.users import PLAYER

_SHARED = Path("/tmp")
_ANSWER_TIMEOUT = 10.0
_CLEAN_TIMEOUT = 10.0
# Runs as the player: removes its files in these directories, also those without permissions.
_CLEAN = 'chmod -R u+rwX -- "$@" 2>/dev/null; find "$@" -mindepth 1 -user "$(id -u)" -delete'


class Started(Protocol):
    """A started program, in a session and process group of its own."""

    pid: int
    pidfd: int

    def reap(self) -> int:
        """Wait for the end of the program and reap it; return the exit status, -9 if it was killed."""
        ...


class TaskUser(Protocol):
    """A user that programs run as."""

    def start(
        self, command: Sequence[str], environment: Mapping[str, str], outputs: tuple[int, int]
    ) -> Started:
        """Start a program with these descriptors as stdout and stderr.

        Raises:
            OSError: the program cannot be started.
        """
        ...

    def signal(self, to: int, number: int) -> None:
        """Signal process `to`, or process group -`to`.

        Raises:
            ProcessLookupError: it does not exist.
        """
        ...

    def directory(self, prefix: str, parent: Path | None = None, *, writable: bool = True) -> Path:
        """Make a directory that only this process and the programs can read, and programs can write if `writable`."""
        ...

    def readable(self, directory: Path) -> Path:
        """Return a directory for files that programs read: the private `directory`, or a new one."""
        ...

    def publish(self, path: Path) -> None:
        """Allow programs to read a private file in such a directory."""
        ...

    def remove(self, directory: Path) -> None:
        """Remove a directory with the files of programs; as the player, also its files elsewhere."""
        ...

    def processes(self, mark: str, but: Collection[int]) -> list[int]:
        """Return the ids of processes that were started with an environment variable, and of their descendants.

        Args:
            mark: `NAME=value`, the variable.
            but: process ids to leave out.
        """
        ...

    def end_all(self) -> None:
        """Kill all processes of this user, if no other processes than programs run as this user."""
        ...


@cache
def task_user() -> TaskUser:
    """Return the user that runs the programs of this process's tasks."""
    control = os.environ.pop(CONTROL, None)
    if control is None:
        return _OwnUser()
    os.set_inheritable(int(control), False)
    return _Player(socket.socket(fileno=int(control)))


class _OwnUser:
    """This process's own user."""

    def start(
        self, command: Sequence[str], environment: Mapping[str, str], outputs: tuple[int, int]
    ) -> Started:
        process = subprocess.Popen(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=outputs[0],
            stderr=outputs[1],
            start_new_session=True,
        )
        return _OwnProcess(process)

    def signal(self, to: int, number: int) -> None:
        os.kill(to, number)

    def directory(self, prefix: str, parent: Path | None = None, *, writable: bool = True) -> Path:
        return Path(tempfile.mkdtemp(prefix=prefix, dir=parent))

    def readable(self, directory: Path) -> Path:
        return directory

    def publish(self, path: Path) -> None:
        pass

    def remove(self, directory: Path) -> None:
        shutil.rmtree(directory, ignore_errors=True)

    def processes(self, mark: str, but: Collection[int]) -> list[int]:
        found = []
        for path in Path("/proc").glob("[0-9]*/environ"):
            # Another user's process, or one that has just ended; zombies have no environment.
            with suppress(OSError):
                if mark.encode() in path.read_bytes().split(b"\0"):
                    found.append(int(path.parent.name))
        return found

    def end_all(self) -> None:
        pass


class _OwnProcess:
    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self.pid = process.pid
        self.pidfd = os.pidfd_open(process.pid)

    def reap(self) -> int:
        return self._process.wait()


class _Player:
    """The user `player` of a container. Any thread may call any method."""

    def __init__(self, control: socket.socket) -> None:
        control.settimeout(_ANSWER_TIMEOUT)
        self._control = control
        self._lock = threading.Lock()

    def start(
        self, command: Sequence[str], environment: Mapping[str, str], outputs: tuple[int, int]
    ) -> Started:
        if shutil.which(command[0], path=environment.get("PATH")) is None:
            raise FileNotFoundError(f"no program {command[0]!r}")
        # The player cannot use the temporary directory of this process.
        theirs = dict(environment)
        if theirs.get("TMPDIR") == tempfile.gettempdir():
            del theirs["TMPDIR"]
        answer, files = self._ask({"run": list(command), "environment": theirs}, outputs)
        pid = answer["pid"]
        assert pid is not None
        return _PlayersProcess(self, pid, files[0])

    def signal(self, to: int, number: int) -> None:
        self._ask({"signal": number, "to": to})

    def forget(self, pid: int) -> int:
        """Return the exit status of a program that has ended."""
        status = self._ask({"forget": pid})[0]["status"]
        return -signal.SIGKILL if status is None else status

    def directory(self, prefix: str, parent: Path | None = None, *, writable: bool = True) -> Path:
        path = Path(tempfile.mkdtemp(prefix=prefix, dir=parent or _SHARED))
        os.chown(path, -1, PLAYER.id)
        path.chmod(0o2770 if writable else 0o2750)  # new files belong to the group too
        return path

    def readable(self, directory: Path) -> Path:
        return self.directory(f"{directory.name}-", writable=False)

    def publish(self, path: Path) -> None:
        path.chmod(0o640)

    def remove(self, directory: Path) -> None:
        nothing = os.open(os.devnull, os.O_WRONLY)
        try:
            where = [str(directory), "/tmp", "/dev/shm"]
            cleaning = self.start(["/bin/sh", "-c", _CLEAN, "clean", *where], _PLAIN, (nothing, nothing))
        finally:
            os.close(nothing)
        if not select.select([cleaning.pidfd], [], [], _CLEAN_TIMEOUT)[0]:
            self.signal(-cleaning.pid, signal.SIGKILL)
        cleaning.reap()
        os.close(cleaning.pidfd)
        shutil.rmtree(directory, ignore_errors=True)

    def processes(self, mark: str, but: Collection[int]) -> list[int]:
        found = []
        for path in Path("/proc").glob("[0-9]*/status"):
            pid = int(path.parent.name)
            with suppress(OSError):  # it has just ended
                if pid != 1 and pid not in but and _is_the_players(path.read_text("utf-8", "replace")):
                    found.append(pid)
        return found

    def end_all(self) -> None:
        with suppress(ProcessLookupError):
            self.signal(-1, signal.SIGKILL)

    def _ask(
        self, request: dict[str, object], files: Sequence[int] = ()
    ) -> tuple[dict[str, int | None], list[int]]:
        with self._lock:
            socket.send_fds(self._control, [json.dumps(request).encode()], files)
            message, received, _, _ = socket.recv_fds(self._control, MAX_MESSAGE, 1)
        if not message:
            raise ConnectionResetError("process 1 of the container closed the connection")
        answer: dict[str, int | None] = json.loads(message)
        if (number := answer.get("errno")) is not None:
            raise OSError(number, os.strerror(number))
        return answer, received


class _PlayersProcess:
    def __init__(self, player: _Player, pid: int, pidfd: int) -> None:
        self._player = player
        self.pid, self.pidfd = pid, pidfd

    def reap(self) -> int:
        select.select([self.pidfd], [], [])
        return self._player.forget(self.pid)


_PLAIN = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8"}


def _is_the_players(status: str) -> bool:
    """Return whether a text as in proc_pid_status(5) is of a running process of the player."""
    lines = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
    return lines["Uid"].split()[0] == str(PLAYER.id) and lines["State"][0] not in "ZX"
