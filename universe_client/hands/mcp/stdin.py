"""A standard input whose reader can be woken: otherwise a signal could not end the server before its host closes it."""

from __future__ import annotations

import asyncio
import io
import os
import select
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any


class _Wakeable(io.RawIOBase):
    """Reads a descriptor, and is at its end once `wake` is readable."""

    def __init__(self, descriptor: int, wake: int) -> None:
        self._descriptor, self._wake = descriptor, wake

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        poll = select.poll()
        poll.register(self._descriptor, select.POLLIN)
        poll.register(self._wake, select.POLLIN)
        if any(descriptor == self._wake for descriptor, _ in poll.poll()):
            return 0
        return os.readv(self._descriptor, [buffer])


@asynccontextmanager
async def wakeable_stdin() -> AsyncIterator[None]:
    """Inside, `sys.stdin` ends when the tasks of the event loop are cancelled, as by a signal.

    Descriptor 0 is /dev/null meanwhile, so that child processes do not read what the host sends.
    """
    if sys.platform == "win32":  # cannot poll it: the server ends when its host closes it
        yield
        return
    before, original = sys.stdin, os.dup(0)
    ours, wake = os.pipe()
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    sys.stdin = io.TextIOWrapper(io.BufferedReader(_Wakeable(original, ours)), encoding="utf-8")
    watch = asyncio.create_task(_wake_when_cancelled(wake))
    try:
        yield
    finally:
        watch.cancel()
        await asyncio.gather(watch, return_exceptions=True)
        sys.stdin = before
        os.dup2(original, 0)
        for descriptor in (original, ours, wake):
            os.close(descriptor)


async def _wake_when_cancelled(wake: int) -> None:
    try:
        await asyncio.Event().wait()
    finally:
        os.write(wake, b"\0")
