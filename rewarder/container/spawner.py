"""Process 1 after its start: it runs as the player, and starts and signals programs at the judge's request.

The kernel protects process 1 from all signals of its own container, SIGKILL and SIGSTOP included, and the process is
not dumpable: the player's programs, which have the same user, can neither end nor trace it. It has only the player's
rights.

Requests and replies are JSON objects, one per packet:

    {"run": [program, ...], "environment": {...}} with 2 descriptors, stdout and stderr  ->  {"pid": n} with its pidfd
    {"signal": number, "to": pid, or -pgid, or -1 for every process of the player}       ->  {}
    {"forget": pid} of a program that has ended                                          ->  {"status": n}

The reply {"errno": n} reports a failure.
"""

from __future__ import annotations

import ctypes
import json
import os
import select
import signal
import socket
from typing import Any

MAX_MESSAGE = 128 * 1024
CONTROL = "UNIVERSE_PLAYER"
"""The environment variable with the judge's file descriptor of the connection to process 1."""
_STOP = (signal.SIGTERM, signal.SIGINT)
_WATCHED = (*_STOP, signal.SIGCHLD)
_SIGINFO_BYTES, _SENDER = 128, slice(12, 16)  # signalfd_siginfo, signalfd(2)
_EXIT_NOT_EXECUTED = 127
# Makes the kernel end a program before the judge when memory is short. Only the program itself can set this.
_EXPENDABLE = ("/bin/sh", "-c", 'echo 500 >/proc/self/oom_score_adj; exec "$@"', "player")


class Spawner:
    """Serves the judge, a child of this process, until it ends."""

    def __init__(self, control: socket.socket, judge: int, judges_input: int) -> None:
        """Take over the connection to the judge.

        Args:
            control: the socket on which requests arrive.
            judge: the judge's process id.
            judges_input: the write end of the judge's stdin; the judge ends when it is closed.
        """
        self._control = control
        self._judge = judge
        self._judges_input: int | None = judges_input
        self._statuses: dict[int, int | None] = {}
        self._signals = _signalfd()

    def serve(self) -> int:
        """Serve requests until the judge has ended; return its exit status."""
        poller = select.poll()
        for file in (self._signals, self._control.fileno()):
            poller.register(file, select.POLLIN)
        while True:
            for file, _ in poller.poll():
                if file == self._signals:
                    status = self._take_signal()
                    if status is not None:
                        return status
                elif not self._reply():
                    poller.unregister(file)  # the judge is ending

    # -- signals --------------------------------------------------------------------------------------------------

    def _take_signal(self) -> int | None:
        """Read a signal; return the judge's exit status if it has ended."""
        info = os.read(self._signals, _SIGINFO_BYTES)
        number = int.from_bytes(info[:4], "little")
        if number == signal.SIGCHLD:
            return self._reap()
        # Processes outside the container have the id 0 here. Signals of the player are ignored.
        if int.from_bytes(info[_SENDER], "little") == 0 and self._judges_input is not None:
            os.close(self._judges_input)
            self._judges_input = None
        return None

    def _reap(self) -> int | None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return None
            if pid == 0:
                return None
            code = os.waitstatus_to_exitcode(status)
            if pid == self._judge:
                return code if code >= 0 else 128 - code
            if pid in self._statuses:
                self._statuses[pid] = code

    # -- requests -------------------------------------------------------------------------------------------------

    def _reply(self) -> bool:
        """Serve one request; return False at the end of the connection."""
        message, files, _, _ = socket.recv_fds(self._control, MAX_MESSAGE, 2)
        if not message:
            return False
        opened: list[int] = []
        try:
            reply = self._fulfil(json.loads(message), files, opened)
        except OSError as error:
            reply = {"errno": error.errno}
        finally:
            for file in files:
                os.close(file)
        socket.send_fds(self._control, [json.dumps(reply).encode()], opened)
        for file in opened:
            os.close(file)
        return True

    def _fulfil(self, request: dict[str, Any], files: list[int], opened: list[int]) -> dict[str, object]:
        if "run" in request:
            pid = _start([*_EXPENDABLE, *request["run"]], request["environment"], files)
            opened.append(os.pidfd_open(pid))
            self._statuses[pid] = None
            return {"pid": pid}
        if "signal" in request:
            os.kill(request["to"], request["signal"])
            return {}
        self._reap_pending()
        return {"status": self._statuses.pop(request["forget"], None)}

    def _reap_pending(self) -> None:
        """Reap programs that have ended: the judge may see their end on the pidfd before SIGCHLD is read here."""
        for pid, status in self._statuses.items():
            if status is None:
                ended, code = os.waitpid(pid, os.WNOHANG)
                if ended:
                    self._statuses[pid] = os.waitstatus_to_exitcode(code)


def _start(command: list[str], environment: dict[str, str], outputs: list[int]) -> int:
    pid = os.fork()
    if pid:
        return pid
    try:
        os.setsid()
        os.umask(0o002)  # the judge, in the player's group, reads the files of a task
        null = os.open(os.devnull, os.O_RDONLY)
        for target, file in enumerate((null, *outputs)):
            os.dup2(file, target)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _WATCHED)
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        os.execve(command[0], command, environment)
    finally:
        os._exit(_EXIT_NOT_EXECUTED)


def _signalfd() -> int:
    """Block the watched signals and return a descriptor to read them from. Unlike a handler, it reports the sender."""
    signal.pthread_sigmask(signal.SIG_BLOCK, _WATCHED)
    mask = ctypes.create_string_buffer(128)  # sigset_t
    libc = ctypes.CDLL(None, use_errno=True)
    libc.sigemptyset(mask)
    for number in _WATCHED:
        libc.sigaddset(mask, int(number))
    file: int = libc.signalfd(-1, mask, os.O_CLOEXEC)
    if file < 0:
        raise OSError(ctypes.get_errno(), "signalfd")
    return file
