"""Where the methods of an environment run: on a thread of their own, or on the event loop's thread."""

from __future__ import annotations

import asyncio
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from queue import SimpleQueue
from typing import ClassVar, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class Worker(ABC):
    """Runs calls one after another, always on the same thread.

    Attributes:
        is_inline: whether that thread is the event loop's.
    """

    is_inline: ClassVar[bool] = False

    @abstractmethod
    async def call(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run `function`; return or raise its result."""

    def stop(self) -> None:  # noqa: B027
        """End after the calls that are queued."""


class InlineWorker(Worker):
    """Runs calls at once, on the event loop's thread: without the cost of a second thread, but the loop waits."""

    is_inline = True

    async def call(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run `function` before anything else happens in the event loop; return or raise its result."""
        return function(*args, **kwargs)


class ThreadWorker(Worker):
    """Runs calls on a thread of its own, without blocking the event loop.

    The thread is a daemon, unlike those of an executor, so that a call that never returns does not keep the process
    alive.
    """

    def __init__(self, name: str) -> None:
        self._jobs: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    async def call(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run `function` on the thread; return or raise its result. Cancellation does not stop a running call."""
        loop = asyncio.get_running_loop()
        over: asyncio.Future[T | _Raised] = loop.create_future()
        self._jobs.put(partial(_perform, loop, over, partial(function, *args, **kwargs)))
        result = await over
        if isinstance(result, _Raised):
            raise result.error
        return result

    def stop(self) -> None:
        """End the thread after the calls that are queued."""
        self._jobs.put(None)

    def _run(self) -> None:
        while (job := self._jobs.get()) is not None:
            job()


class _Raised:
    """The exception of a call. A future would not accept every exception."""

    def __init__(self, error: BaseException) -> None:
        self.error = error


def _perform(
    loop: asyncio.AbstractEventLoop, over: asyncio.Future[T | _Raised], function: Callable[[], T]
) -> None:
    if over.cancelled():
        return
    result: T | _Raised
    try:
        result = function()
    except BaseException as error:  # noqa: BLE001 - the caller raises it
        result = _Raised(error)
    with suppress(RuntimeError):  # the loop is closed
        loop.call_soon_threadsafe(_deliver, over, result)


def _deliver(over: asyncio.Future[T | _Raised], result: T | _Raised) -> None:
    if not over.done():
        over.set_result(result)
