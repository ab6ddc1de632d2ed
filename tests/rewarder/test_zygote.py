"""`python -m rewarder.zygote` as a process: it forks remotes, reports their ends, and they end with it."""

from __future__ import annotations

import errno
import json
import os
import resource
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.support.system.processes import Obituary, command_line, descendants

ROOT = Path(__file__).parents[2]
NEON = "builtin.NeonDrive-v0"
PATIENCE = 60.0
REQUEST = json.dumps({"env_id": NEON}).encode() + b"\n"


class Remote:
    """What a provider holds of a remote."""

    def __init__(self, stdio: socket.socket, stderr: socket.socket, reports: socket.socket) -> None:
        self.stdio, self.stderr, self.reports = stdio, stderr, reports
        self._lines = reports.makefile("rb")

    def report(self) -> dict[str, int] | None:
        line = self._lines.readline()
        return json.loads(line) if line else None

    def answers(self, request: bytes = REQUEST) -> dict[str, object]:
        """Send the request, and return the ready line."""
        self.stdio.sendall(request)
        with self.stdio.makefile("rb") as lines:
            return json.loads(lines.readline())

    def close(self) -> None:
        for file in (self._lines, self.stdio, self.stderr, self.reports):
            file.close()


class Zygote:
    """A zygote's process, and the remotes that it was asked for."""

    def __init__(self, *command: str) -> None:
        self._control, stdin = socket.socketpair()
        with stdin:
            self.process = subprocess.Popen(
                [sys.executable, *(command or ("-P", "-m", "rewarder.zygote", NEON))],
                stdin=stdin,
                stderr=subprocess.PIPE,
                env=os.environ | {"PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"},
            )
        self._open = ExitStack()

    def fork(self) -> Remote:
        with ExitStack() as theirs:
            pairs = [socket.socketpair() for _ in range(3)]
            stdio, stderr, reports = (theirs.enter_context(other) for _, other in pairs)
            files = [file.fileno() for file in (reports, stdio, stdio, stderr)]
            socket.send_fds(self._control, [b"\n"], files)
        remote = Remote(*(own for own, _ in pairs))
        self._open.callback(remote.close)
        return remote

    def end(self) -> None:
        self._control.close()

    def close(self) -> None:
        self.end()
        self.process.kill()
        self._open.close()
        with self.process:
            pass


@pytest.fixture
def start() -> Iterator[type[Zygote]]:
    with ExitStack() as started:

        def run(*command: str) -> Zygote:
            zygote = Zygote(*command)
            started.callback(zygote.close)
            return zygote

        yield run


@pytest.fixture
def zygote(start) -> Zygote:
    return start()


def files(pid: int) -> list[str]:
    return sorted(os.listdir(f"/proc/{pid}/fd"))


def test_it_forks_remotes_and_reports_their_ends(zygote):
    one, other = zygote.fork(), zygote.fork()
    pids = [remote.report()["pid"] for remote in (one, other)]
    assert descendants(zygote.process.pid) == set(pids)
    assert one.answers()["vnc_port"] != other.answers()["vnc_port"]
    one.stdio.close()
    assert one.report() == {"status": 0}
    assert one.report() is None
    os.kill(pids[1], signal.SIGKILL)
    assert other.report() == {"status": -signal.SIGKILL}
    assert zygote.process.poll() is None


def test_a_remote_has_no_descriptors_of_the_zygote_and_of_other_remotes(zygote):
    remotes = [zygote.fork() for _ in range(3)]
    pids = [remote.report()["pid"] for remote in remotes]
    counts = [len(files(pid)) for pid in pids if remotes[pids.index(pid)].answers()]
    assert counts[0] == counts[1] == counts[2]


def test_each_remote_leads_a_session_and_has_no_interpreter_of_its_own(zygote):
    remote = zygote.fork()
    pid = remote.report()["pid"]
    assert remote.answers()
    assert os.getsid(pid) == pid
    assert command_line(pid) == command_line(zygote.process.pid)


def test_a_refused_request_is_status_2_with_the_reason_on_stderr_of_the_remote(zygote):
    remote = zygote.fork()
    remote.report()
    remote.stdio.sendall(b'{"env_id": "no.SuchEnv-v0"}\n')
    assert remote.report() == {"status": 2}
    assert b"no.SuchEnv-v0" in remote.stderr.recv(4096)


def test_a_remote_whose_reports_nobody_reads_is_killed(zygote):
    remote, other = zygote.fork(), zygote.fork()
    obituary = Obituary([remote.report()["pid"]])
    remote.answers()
    remote._lines.close()
    remote.reports.close()
    obituary.wait(PATIENCE)
    obituary.close()
    other.report()
    assert other.answers(), "the other remote runs"


def test_a_stopped_remote_is_killed_and_its_end_reported(zygote):
    remote = zygote.fork()
    os.kill(remote.report()["pid"], signal.SIGSTOP)
    remote.reports.shutdown(socket.SHUT_WR)
    assert remote.report() == {"status": -signal.SIGKILL}


@pytest.mark.parametrize("how", ["its input ends", "kill -9"])
def test_remotes_end_with_the_zygote(zygote, how):
    remotes = [zygote.fork(), zygote.fork()]
    obituary = Obituary([remote.report()["pid"] for remote in remotes])
    remotes[0].answers()  # the other one still waits for its request
    if how == "kill -9":
        zygote.process.kill()
    else:
        zygote.end()
        assert zygote.process.wait(PATIENCE) == 0
    obituary.wait(PATIENCE)
    obituary.close()


@pytest.mark.parametrize("number", range(5, 11))  # 0 to 4 and 8 are open
def test_without_descriptors_it_forks_nothing_and_goes_on(zygote, number):
    first = zygote.fork()
    first.report()
    pid, limit = zygote.process.pid, resource.RLIMIT_NOFILE
    before = resource.prlimit(pid, limit)
    resource.prlimit(pid, limit, (number, before[1]))
    assert zygote.fork().report() in (None, {"errno": errno.EMFILE})
    resource.prlimit(pid, limit, before)
    assert zygote.fork().report()
    assert first.answers(), "the first remote runs"


SCRIPT = """
import sys
import rewarder.zygote as zygote
{patch}
sys.exit(zygote.main(["builtin.NeonDrive-v0"]))
"""


def test_a_fork_that_the_system_refuses_is_reported(start):
    patch = "import os\ndef refuse(): raise OSError(11, 'try again')\nfork, os.fork = os.fork, refuse"
    zygote = start("-c", SCRIPT.format(patch=patch))
    assert zygote.fork().report() == {"errno": 11}
    assert zygote.fork().report() == {"errno": 11}
    assert zygote.process.poll() is None


def test_remotes_draw_different_random_numbers(start):
    patch = (
        "import random, numpy\n"
        "zygote.serve_remote = lambda _: print(random.random(), numpy.random.random(), flush=True)"
    )
    zygote = start("-c", SCRIPT.format(patch=patch))
    drawn = []
    for remote in (zygote.fork(), zygote.fork()):
        drawn += remote.stdio.makefile("rb").readline().split()
        assert remote.report() and remote.report() == {"status": 0}
    assert len(set(drawn)) == 4


def test_what_is_printed_before_the_fork_is_printed_once(start):
    zygote = start("-c", SCRIPT.format(patch="print('hello')\nzygote.serve_remote = print"))
    remote = zygote.fork()
    assert remote.stdio.makefile("rb").read() == b"[]\n"


def test_a_zygote_with_threads_starts_remotes_with_an_interpreter_of_their_own(start):
    patch = "import threading\nthreading.Thread(target=threading.Event().wait, daemon=True).start()"
    zygote = start("-c", SCRIPT.format(patch=patch))
    remote = zygote.fork()
    pid = remote.report()["pid"]
    assert remote.answers()["vnc_port"]
    assert command_line(pid)[1:] == ["-P", "-m", "rewarder"]


def test_modules_are_imported_before_the_fork_and_their_pages_shared(zygote):
    remote = zygote.fork()
    pid = remote.report()["pid"]
    remote.answers()
    fields = dict(line.split(":") for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:])
    kilobytes = {name: int(value.split()[0]) for name, value in fields.items()}
    assert kilobytes["Private_Dirty"] < 0.5 * kilobytes["Rss"]
