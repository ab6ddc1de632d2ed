"""When a remote's process ends: signals, the end of stdin, the death of its parent."""

from __future__ import annotations

import asyncio
import ctypes
import os
import signal
import threading
from collections.abc import Callable, Coroutine
from contextlib import suppress

PR_SET_PDEATHSIG = 1  # linux/prctl.h
STDIN = 0


async def until_stopped(work: Coroutine[object, object, None], *, exit_with_stdin: bool = False) -> None:
    """Run `work` until it returns or raises, or cancel it at SIGTERM, SIGINT or (if asked for) the end of stdin."""
    loop = asyncio.get_running_loop()
    task = loop.create_task(work)
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, task.cancel)
    if exit_with_stdin:
        _die_with_parent()
        _watch_stdin(lambda: _call_on(loop, task.cancel))
    with suppress(asyncio.CancelledError):
        await task


def read_line(descriptor: int = STDIN, limit: int = 4096) -> bytes:
    """Read one line without reading past it.

    Raises:
        ValueError: the line is longer than `limit`, or the input ended before its newline.
    """
    line = b""
    while not line.endswith(b"\n"):
        byte = os.read(descriptor, 1)
        if not byte or len(line) >= limit:
            raise ValueError(f"no line within {limit} bytes of input")
        line += byte
    return line


def _watch_stdin(ended: Callable[[], None]) -> None:
    def watch() -> None:
        # Plain reads: at exit the interpreter would wait for the lock of a buffered reader.
        while os.read(STDIN, 4096):
            pass
        ended()

    threading.Thread(target=watch, name="stdin", daemon=True).start()


def _call_on(loop: asyncio.AbstractEventLoop, function: Callable[[], object]) -> None:
    with suppress(RuntimeError):  # the loop is closed: we are ending anyway
        loop.call_soon_threadsafe(function)


def _die_with_parent() -> None:
    """Have the kernel send SIGTERM when the parent dies; without prctl, the end of stdin is all there is."""
    prctl = getattr(ctypes.CDLL(None), "prctl", None)
    if prctl is not None:
        prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
