"""Signals end the server between two callbacks of its event loop, not inside one."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Coroutine
from contextlib import suppress

_STOP = (signal.SIGINT, signal.SIGTERM)


def run_until_signal(work: Coroutine[object, object, None]) -> None:
    """Run `work` on a new event loop, in the main thread. SIGINT and SIGTERM cancel all tasks, and are handled then.

    An exception that a signal handler raises in the middle of a task may be lost, or be reported as an error of that
    task.
    """
    handlers = {number: signal.getsignal(number) for number in _STOP}
    received: list[int] = []

    def restore() -> None:
        for number, handler in handlers.items():
            signal.signal(number, handler)

    async def cancellable() -> None:
        loop, outer = asyncio.get_running_loop(), asyncio.current_task()
        task = loop.create_task(work)

        def stop(number: int) -> None:
            received.append(number)
            restore()  # a second signal does not wait
            for each in asyncio.all_tasks(loop) - {outer}:
                each.cancel()

        for number, handler in handlers.items():
            # The event loops of Windows handle no signals.
            if sys.platform != "win32" and handler is not signal.SIG_IGN:
                loop.add_signal_handler(number, stop, number)
        with suppress(asyncio.CancelledError):
            await task

    try:
        asyncio.run(cancellable())
    finally:
        restore()  # the loop has set the defaults when it was closed
    if received:
        signal.raise_signal(received[0])
