"""An event loop on a thread of its own: the only bridge between the agent's synchronous code and asyncio."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from typing import Any, ParamSpec, TypeVar

from universe_client.core.event_loop.selector import IdleSelector
from universe_client.errors import LocalStateError
from universe_client.home import Home

P = ParamSpec("P")
T = TypeVar("T")


class LoopThread:
    """An event loop that runs until `stop`, in the process that made it; forked processes have no such thread."""

    def __init__(self, name: str = "universe-client") -> None:
        """Start the thread, a daemon called `name`."""
        self._home = Home()
        self._home.enter()
        self._selector = IdleSelector()
        self._loop = asyncio.SelectorEventLoop(self._selector)
        self._thread = threading.Thread(target=self._main, name=name, daemon=True)
        try:
            self._thread.start()
        except RuntimeError:  # the operating system refuses another thread
            self._loop.close()
            raise

    def _main(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_forever()
        finally:
            self._loop.close()

    def is_idle(self) -> bool:
        """Return whether the loop has processed all that has arrived; False: it may not have."""
        return self._selector.is_idle()

    def call(self, function: Callable[P, object], *args: P.args, **kwargs: P.kwargs) -> None:
        """Make the loop's thread call `function`; return without waiting for it.

        Raises:
            LocalStateError: this process was forked from the one that made the loop.
        """
        self._home.enter()
        self._loop.call_soon_threadsafe(lambda: function(*args, **kwargs))

    def run(self, coroutine: Coroutine[Any, Any, T], timeout: float | None = None) -> T:
        """Run `coroutine` on the loop and wait for its result.

        Raises:
            TimeoutError: it did not finish within `timeout` seconds; it is cancelled.
            LocalStateError: after `stop`, or in a process that was forked from the one that made the loop.
        """
        self._check(coroutine)
        future = asyncio.run_coroutine_threadsafe(coroutine, self._loop)
        try:
            return future.result(timeout)
        except BaseException:
            # Either the coroutine has failed, and this has no effect, or the wait was interrupted.
            future.cancel()
            raise

    def stop(self, last: Coroutine[Any, Any, object]) -> None:
        """Run `last`, cancel all other tasks and wait for them, then end the loop and its thread.

        An exception of `last` is raised here. On the loop's own thread, where a garbage collection may call this, it
        does not wait. In a forked process it has no effect.
        """
        if self._home.is_elsewhere:
            last.close()
            return
        if threading.current_thread() is self._thread:
            self._last = self._loop.create_task(self._finish(last))
            return
        finished = asyncio.run_coroutine_threadsafe(self._finish(last), self._loop)
        self._thread.join()
        finished.result()

    def _check(self, coroutine: Coroutine[Any, Any, object]) -> None:
        try:
            self._home.enter()
            if self._loop.is_closed():
                raise LocalStateError("the environment is closed")
        except LocalStateError:
            coroutine.close()  # otherwise Python warns that it was never awaited
            raise

    async def _finish(self, last: Coroutine[Any, Any, object]) -> None:
        try:
            await last
            await _cancel_others()
        finally:
            # Not at once: the callbacks of this task, which wake `stop`, run first.
            self._loop.call_soon(self._loop.stop)


async def _cancel_others() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
    loop = asyncio.get_running_loop()
    await loop.shutdown_asyncgens()
    await loop.shutdown_default_executor()
