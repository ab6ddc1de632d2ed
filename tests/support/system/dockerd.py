"""A Docker daemon that a test may stop and start again. It needs root, or sudo."""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import closing
from pathlib import Path
from tempfile import mkdtemp

from tests.support.remotes.agent import wait_until
from tests.support.system.processes import Obituary

SUDO = [] if os.geteuid() == 0 else ["sudo"]


class OwnDaemon:
    """A daemon with a socket, a data directory and networks of its own.

    It does not change the machine's firewall or docker0: every daemon uses the same names for its firewall chains,
    and with `--bridge=none` or `--default-address-pool` a daemon deletes docker0.
    """

    def __init__(self) -> None:
        self._bridge = f"universe{os.getpid()}"[:15]
        _run("ip", "link", "add", self._bridge, "type", "bridge")
        _run("ip", "address", "add", "10.213.255.1/24", "dev", self._bridge)
        self._folder = Path(mkdtemp(prefix="dockerd-"))  # the path of a socket must be short
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"unix://{self._folder}/socket"

    def start(self) -> None:
        """Start the daemon and wait until it answers."""
        log = self._folder / "log"
        began = log.stat().st_size if log.exists() else 0
        with log.open("ab") as output:
            self._process = subprocess.Popen(self._command, stdout=output, stderr=output)

        def listens():
            assert self._process.poll() is None, log.read_text()[-2000:]
            return "API listen on" in log.read_text()[began:]

        wait_until(listens, 120, "the daemon's own start")

    @property
    def _command(self) -> list[str]:
        folder = self._folder
        return [
            *(*SUDO, "dockerd", f"--host={self.url}", f"--group={os.getgid()}", f"--pidfile={folder}/pid"),
            *(f"--data-root={folder}/data", f"--exec-root={folder}/exec"),
            *("--containerd-namespace=test", "--containerd-plugins-namespace=test-plugins"),
            *(f"--bridge={self._bridge}", "--iptables=false", "--ip-masq=false"),
        ]

    def end(self, number: signal.Signals) -> None:
        """Send the daemon a signal that ends it; wait for its end and that of its containerd."""
        assert self._process is not None
        pid, containerd = self._folder / "pid", self._folder / "exec" / "containerd" / "containerd.pid"
        numbers = [int(file.read_text()) for file in (pid, containerd)]
        with closing(Obituary(numbers)) as ends:
            _run("kill", f"-{number}", str(numbers[0]))
            ends.wait(120)
        self._process.wait(120)
        self._process = None
        _run("rm", "-f", str(containerd))  # its zombie would count as a running containerd

    def close(self) -> None:
        """Stop the daemon and remove its files."""
        if self._process is not None:
            self.end(signal.SIGTERM)
        mounted = [line.split()[4] for line in Path("/proc/self/mountinfo").read_text().splitlines()]
        for path in reversed(mounted):
            if path.startswith(f"{self._folder}/"):
                _run("umount", path)
        _run("rm", "-rf", str(self._folder))
        _run("ip", "link", "delete", self._bridge)


def _run(*command: str) -> None:
    subprocess.run([*SUDO, *command], check=True)
