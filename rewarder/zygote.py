"""`python -P -m rewarder.zygote [ENV_ID]`: forks remotes, which share the memory of everything that is imported.

The provider of the remotes holds the other end of stdin, a Unix socket. Each of its messages is one byte with four
descriptors: a socket for reports about a remote, and its stdin, stdout and stderr. The remote then continues as
`python -m rewarder` does, and reads its request from stdin. The reports are lines of JSON:

    {"pid": 4711}      the remote was forked
    {"errno": 11}      it could not be forked
    {"status": -9}     it has ended: its exit status, or the negative number of a signal

When the provider closes its end of such a socket, the remote is killed. Only the zygote can do that safely: the id of a
process is not used again before its parent has read its status. At the end of stdin the zygote ends, and the kernel
sends SIGTERM to the remotes that still run.
"""

from __future__ import annotations

import gc
import os
import select
import signal
import socket
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

import msgspec
import numpy as np

from rewarder.__main__ import main as serve_remote
from rewarder.runtimes.preload import preload
from rewarder.sdk.shutdown import die_with_parent

_STDIN = 0
_DESCRIPTORS = 4


@dataclass(frozen=True, slots=True)
class _Remote:
    pid: int
    process: int
    """A pidfd: readable once the process has ended."""
    reports: socket.socket


class Zygote:
    """Forks remotes on request, and reports their ends.

    Args:
        control: the socket on which requests arrive.
    """

    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._remotes: dict[int, _Remote] = {}  # by the number of each of their two descriptors
        self._poller = select.poll()
        self._poller.register(control, select.POLLIN)

    def serve(self) -> bool:
        """Serve requests until `control` ends. Return True in each forked remote, False in the zygote."""
        while True:
            # Only the first: its handler closes descriptors, whose numbers are reused.
            file, _ = self._poller.poll()[0]
            remote = self._remotes.get(file)
            if remote is None:
                message, files, _, _ = socket.recv_fds(
                    self._control, 1, _DESCRIPTORS, socket.MSG_CMSG_CLOEXEC
                )
                if not message:
                    return False
                if self._answer(files):
                    return True
            elif file == remote.process:
                self._reap(remote)
            else:
                self._poller.unregister(file)
                os.kill(remote.pid, signal.SIGKILL)

    def _answer(self, files: list[int]) -> bool:
        """Fork a remote; return True in it. The kernel delivers fewer descriptors when too many are open."""
        zygote = os.getpid()
        is_remote = False
        if len(files) == _DESCRIPTORS:
            is_remote = self._fork(socket.socket(fileno=files.pop(0)))
            if is_remote:
                _become_remote(zygote, files)
        for file in files:
            os.close(file)
        return is_remote

    def _fork(self, reports: socket.socket) -> bool:
        """Fork; return True in the new process."""
        try:
            pid = os.fork()
            if pid:
                self._watch(pid, reports)
                return False
        except OSError as error:
            _report(reports, errno=error.errno or 0)
            reports.close()
            return False
        reports.close()
        self._close()
        return True

    def _watch(self, pid: int, reports: socket.socket) -> None:
        try:
            process = os.pidfd_open(pid)
        except OSError:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            raise
        for file in (process, reports.fileno()):
            self._remotes[file] = _Remote(pid, process, reports)
            self._poller.register(file, select.POLLIN)
        _report(reports, pid=pid)

    def _reap(self, remote: _Remote) -> None:
        _, status = os.waitpid(remote.pid, 0)
        for file in (remote.process, remote.reports.fileno()):
            del self._remotes[file]
            with suppress(KeyError):  # the provider has closed its end
                self._poller.unregister(file)
        _report(remote.reports, status=os.waitstatus_to_exitcode(status))
        remote.reports.close()
        os.close(remote.process)

    def _close(self) -> None:
        """Close in a remote what belongs to the zygote."""
        self._control.close()
        for file, remote in self._remotes.items():
            if file == remote.process:
                os.close(file)
            else:
                remote.reports.close()


def _report(reports: socket.socket, **report: int) -> None:
    with suppress(BrokenPipeError):  # the provider does not want to know
        reports.sendall(msgspec.json.encode(report) + b"\n")


def _become_remote(zygote: int, standard: Sequence[int]) -> None:
    """Make this process independent of the zygote, except that it ends with it."""
    os.setsid()
    for number, file in enumerate(standard):
        os.dup2(file, number)
    die_with_parent()
    if os.getppid() != zygote:
        sys.exit(0)  # it has ended before the kernel was told
    np.random.seed()  # every remote would draw the same numbers


def main(arguments: Sequence[str]) -> int:
    """Import what the remotes of an env id need, and fork them; return the exit status."""
    die_with_parent()
    gc.disable()
    preload(arguments[0] if arguments else "")
    sys.stdout.flush()  # what is in a buffer would be printed by every remote
    gc.freeze()  # the garbage collector of a remote would write to the objects, and so copy their pages
    is_safe = len(os.listdir("/proc/self/task")) == 1
    if not Zygote(socket.socket(fileno=os.dup(_STDIN))).serve():
        return 0
    if not is_safe:  # a lock that another thread of the zygote holds would stay locked in a fork
        os.execv(sys.executable, [sys.executable, "-P", "-m", "rewarder"])
    gc.enable()
    return serve_remote([])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
