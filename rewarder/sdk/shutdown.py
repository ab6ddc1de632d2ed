"""Stop a remote's process: at a signal, at the end of its stdin, or when its parent dies."""

from __future__ import annotations

import asyncio
import ctypes
import signal
import sys
from collections.abc import Callable, Coroutine
from contextlib import suppress

from rewarder.stdin import on_end

PR_SET_PDEATHSIG = 1  # linux/prctl.h


async def until_stopped(work: Coroutine[object, object, None], *, exit_with_stdin: bool = False) -> None:
    """Run `work`, and cancel it at SIGTERM or SIGINT.

    Args:
        work: the coroutine to run. Its exceptions are raised.
        exit_with_stdin: also cancel it at the end of stdin, and when the parent process dies.
    """
    loop = asyncio.get_running_loop()
    task = loop.create_task(work)
    for number in (signal.SIGTERM, signal.SIGINT):
        if sys.platform == "win32":  # whose event loops handle no signals
            signal.signal(number, lambda *_: _call_on(loop, task.cancel))
        else:
            loop.add_signal_handler(number, task.cancel)
    if exit_with_stdin:
        die_with_parent()
        on_end(lambda: _call_on(loop, task.cancel))
    with suppress(asyncio.CancelledError):
        await task


def _call_on(loop: asyncio.AbstractEventLoop, function: Callable[[], object]) -> None:
    with suppress(RuntimeError):  # the loop is closed, the process ends already
        loop.call_soon_threadsafe(function)


def die_with_parent() -> None:
    """Ask Linux for SIGTERM at the parent's death. Elsewhere only the end of stdin signals it."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
