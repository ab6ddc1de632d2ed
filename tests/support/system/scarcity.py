"""Make the operating system run out of descriptors or processes, and count those in use."""

from __future__ import annotations

import errno
import os
import resource
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch


@contextmanager
def no_descriptors() -> Iterator[None]:
    """Within the block, opening a file or a socket fails with EMFILE."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    with ExitStack() as stack:
        spare = os.open(os.devnull, os.O_RDONLY)
        stack.callback(os.close, spare)
        highest = max(_descriptors())
        while (filled := os.dup(spare)) <= highest:
            stack.callback(os.close, filled)
        stack.callback(os.close, filled)
        resource.setrlimit(resource.RLIMIT_NOFILE, (filled + 1, before[1]))
        stack.callback(resource.setrlimit, resource.RLIMIT_NOFILE, before)
        yield


@contextmanager
def no_processes(number: int = errno.EAGAIN) -> Iterator[None]:
    """Within the block, `fork` fails with this errno."""

    def refuse(*args: Any) -> None:
        raise OSError(number, os.strerror(number))

    with patch.object(subprocess, "_fork_exec", refuse):
        yield


def in_use() -> tuple[int, int]:
    """Return the number of descriptors and threads of this process."""
    return len(_descriptors()), len(os.listdir("/proc/self/task"))


def _descriptors() -> list[int]:
    with os.scandir("/proc/self/fd") as found:
        numbers = [int(entry.name) for entry in found]
    return [number for number in numbers if os.path.lexists(f"/proc/self/fd/{number}")]
