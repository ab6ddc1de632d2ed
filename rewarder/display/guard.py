"""A shell process that kills programs and removes files after the end of this process."""

from __future__ import annotations

import logging
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_SCRIPT = """
trap '' HUP INT TERM
groups=
while read -r line; do groups=$line; done
for group in $groups; do kill -s KILL -- "-$group" 2>/dev/null; done
rm -rf -- "$1"
"""
_CLOSE_TIMEOUT = 5.0

log = logging.getLogger(__name__)


class Guard:
    """Kills process groups and removes a directory when this process ends.

    The guard reads from a pipe, which the kernel closes even after `kill -9`. A parent-death signal would not reach
    grandchildren.
    """

    def __init__(self, directory: Path) -> None:
        self._groups: set[int] = set()
        self._process = subprocess.Popen(
            ["/bin/sh", "-c", _SCRIPT, "guard", str(directory)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self.pid = self._process.pid

    def add(self, group: int) -> None:
        """Kill process group `group` at the end of this process."""
        self._groups.add(group)
        self._send()

    def remove(self, group: int) -> None:
        """Do not kill process group `group`, which has ended; its number may be reused."""
        self._groups.discard(group)
        self._send()

    def close(self) -> None:
        """Kill the remaining groups and remove the directory; wait for both."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(_CLOSE_TIMEOUT)
        except subprocess.TimeoutExpired:
            log.warning("! guard %d did not end within %g s", self.pid, _CLOSE_TIMEOUT)
            self._process.kill()
            self._process.wait()

    def _send(self) -> None:
        assert self._process.stdin is not None
        line = " ".join(map(str, sorted(self._groups))) + "\n"
        try:
            self._process.stdin.write(line.encode())
            self._process.stdin.flush()
        except BrokenPipeError:
            log.warning(
                "! guard %d has ended: after a kill -9 of this process, its programs would remain", self.pid
            )


@contextmanager
def secret_directory() -> Iterator[Path]:
    """Make a directory that only this user can read; remove it at the end, also after `kill -9`."""
    directory = Path(tempfile.mkdtemp(prefix="universe-client-"))
    guard = Guard(directory)
    try:
        yield directory
    finally:
        guard.close()
