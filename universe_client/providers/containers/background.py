"""Blocking calls, away from the event loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TypeVar

T = TypeVar("T")


async def blocking(function: Callable[[], T]) -> T:
    """Run `function` on a thread of its own and return its result.

    Not on an executor's: when the interpreter exits those are gone before environments are closed.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()

    def work() -> None:
        try:
            result = function()
        except Exception as error:  # noqa: BLE001  # raised again where it is awaited
            _deliver(loop, future, partial(future.set_exception, error))
        else:
            _deliver(loop, future, partial(future.set_result, result))

    try:
        threading.Thread(target=work, name="docker", daemon=True).start()
    except RuntimeError:  # so late in the interpreter's exit that there are no new threads
        return function()
    return await future


def _deliver(
    loop: asyncio.AbstractEventLoop, future: asyncio.Future[T], settle: Callable[[], object]
) -> None:
    with suppress(RuntimeError):  # the loop is closed: nobody waits any more
        loop.call_soon_threadsafe(lambda: None if future.done() else settle())
