"""A shell that outlives this process just long enough to clean up after it, however it ended."""

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
    """Kills the process groups given to it, and removes a directory, when this process is gone.

    The kernel closes the pipe to it even after `kill -9`; a parent-death signal would not reach grandchildren.
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
        """From now on process group `group` ends with us."""
        self._groups.add(group)
        self._tell()

    def remove(self, group: int) -> None:
        """Process group `group` has ended; its number may soon be somebody else's."""
        self._groups.discard(group)
        self._tell()

    def close(self) -> None:
        """Kill what is left, remove the directory, and wait for both."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(_CLOSE_TIMEOUT)
        except subprocess.TimeoutExpired:
            log.warning("! guard %d has not ended after %g s", self.pid, _CLOSE_TIMEOUT)
            self._process.kill()
            self._process.wait()

    def _tell(self) -> None:
        assert self._process.stdin is not None
        line = " ".join(map(str, sorted(self._groups))) + "\n"
        try:
            self._process.stdin.write(line.encode())
            self._process.stdin.flush()
        except BrokenPipeError:
            log.warning("! guard %d is gone: after a kill -9 of this process others would live on", self.pid)


@contextmanager
def secret_directory() -> Iterator[Path]:
    """A new directory that only its owner can look into; it is removed at the end, also after `kill -9`."""
    directory = Path(tempfile.mkdtemp(prefix="universe-client-"))
    guard = Guard(directory)
    try:
        yield directory
    finally:
        guard.close()
