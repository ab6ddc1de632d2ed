"""Run blocking calls outside the event loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TypeVar

T = TypeVar("T")


async def blocking(function: Callable[[], T]) -> T:
    """Run `function` on a new thread and return its result.

    An executor would not do: at the exit of the interpreter its threads end before environments are closed.
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
    except RuntimeError:  # the interpreter exits and starts no more threads
        return function()
    return await future


def _deliver(
    loop: asyncio.AbstractEventLoop, future: asyncio.Future[T], settle: Callable[[], object]
) -> None:
    with suppress(RuntimeError):  # the loop is closed, nobody awaits the result
        loop.call_soon_threadsafe(lambda: None if future.done() else settle())
