"""`AsyncComputer`: a `Computer` whose methods are coroutines."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Self, TypeVar

from universe_client.hands.actions import Action
from universe_client.hands.acts import QUIET, TIMEOUT
from universe_client.hands.computer import Computer
from universe_client.hands.outcome import Outcome, Stillness
from universe_client.hands.pictures import Format, Picture
from universe_client.providers.provider import Provider
from universe_client.vector_env import VectorEnv

T = TypeVar("T")
_AGAIN = 0.05  # seconds between two attempts to interrupt a call that is just about to begin


class AsyncComputer:
    """A `Computer` for programs with an event loop; it has a thread of its own, in which calls run one after the other.

    The arguments, results and errors of all methods are those of `Computer`. When a call is cancelled, what it holds
    down is released before the cancellation goes on.

    Example:
        async with AsyncComputer.open("desktop.WriteNote-v0", "docker:1") as computer:
            outcome = await computer.click(400, 300)
    """

    def __init__(self, env: VectorEnv, index: int = 0, **options: Any) -> None:
        """Drive one remote of an environment; see `Computer`."""
        self._begin(Computer(env, index, **options))

    def _begin(self, computer: Computer) -> None:
        self._computer = computer
        self._thread = ThreadPoolExecutor(1, "universe-client-hands")

    @classmethod
    def open(
        cls, env_id: str | None = None, remotes: int | str | Provider = 1, **options: Any
    ) -> AsyncComputer:
        """See `Computer.open`."""
        computer = cls.__new__(cls)
        computer._begin(Computer.open(env_id, remotes, **options))
        return computer

    async def size(self) -> tuple[int, int]:
        """See `Computer.size`."""
        return await self._run(lambda: self._computer.size)

    async def screen_size(self) -> tuple[int, int]:
        """See `Computer.screen_size`."""
        return await self._run(lambda: self._computer.screen_size)

    async def text(self) -> str | None:
        """See `Computer.text`."""
        return await self._run(lambda: self._computer.text)

    async def reward(self) -> float:
        """See `Computer.reward`."""
        return await self._run(lambda: self._computer.reward)

    async def done(self) -> bool:
        """See `Computer.done`."""
        return await self._run(lambda: self._computer.done)

    async def cursor(self) -> tuple[int, int]:
        """See `Computer.cursor`."""
        return await self._run(self._computer.cursor)

    async def screenshot(
        self,
        scale: float | None = None,
        region: tuple[int, int, int, int] | None = None,
        format: Format | None = None,
    ) -> Picture:
        """See `Computer.screenshot`."""
        return await self._run(self._computer.screenshot, scale, region, format)

    async def wait_until_still(
        self,
        quiet: float = QUIET,
        timeout: float = TIMEOUT,  # noqa: ASYNC109 - the same as in `Computer`
        ignore: Sequence[tuple[int, int, int, int]] = (),
    ) -> Stillness:
        """See `Computer.wait_until_still`."""
        return await self._run(self._computer.wait_until_still, quiet, timeout, ignore)

    async def do(self, actions: Sequence[Action] | Action, **how: Any) -> Outcome:
        """See `Computer.do`."""
        return await self._run(self._computer.do, actions, **how)

    async def click(self, *arguments: Any, **how: Any) -> Outcome:
        """See `Computer.click`."""
        return await self._run(self._computer.click, *arguments, **how)

    async def double_click(self, *arguments: Any, **how: Any) -> Outcome:
        """See `Computer.double_click`."""
        return await self._run(self._computer.double_click, *arguments, **how)

    async def move(self, x: int, y: int, **how: Any) -> Outcome:
        """See `Computer.move`."""
        return await self._run(self._computer.move, x, y, **how)

    async def drag(self, path: Sequence[tuple[int, int]], *arguments: Any, **how: Any) -> Outcome:
        """See `Computer.drag`."""
        return await self._run(self._computer.drag, path, *arguments, **how)

    async def scroll(self, *arguments: Any, **how: Any) -> Outcome:
        """See `Computer.scroll`."""
        return await self._run(self._computer.scroll, *arguments, **how)

    async def button_down(self, *arguments: Any, **how: Any) -> Outcome:
        """See `Computer.button_down`."""
        return await self._run(self._computer.button_down, *arguments, **how)

    async def button_up(self, *arguments: Any, **how: Any) -> Outcome:
        """See `Computer.button_up`."""
        return await self._run(self._computer.button_up, *arguments, **how)

    async def type(self, text: str, **how: Any) -> Outcome:
        """See `Computer.type`."""
        return await self._run(self._computer.type, text, **how)

    async def press(self, keys: str, repeat: int = 1, **how: Any) -> Outcome:
        """See `Computer.press`."""
        return await self._run(self._computer.press, keys, repeat, **how)

    async def hold(self, keys: str, seconds: float, **how: Any) -> Outcome:
        """See `Computer.hold`."""
        return await self._run(self._computer.hold, keys, seconds, **how)

    async def wait(self, seconds: float, **how: Any) -> Outcome:
        """See `Computer.wait`."""
        return await self._run(self._computer.wait, seconds, **how)

    async def reset(self, **how: Any) -> Outcome:
        """See `Computer.reset`."""
        return await self._run(self._computer.reset, **how)

    async def refresh(self) -> None:
        """See `Computer.refresh`."""
        await self._run(self._computer.refresh)

    async def close(self) -> None:
        """See `Computer.close`."""
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(None, self._computer.close)
        self._thread.shutdown(wait=False)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self.close()

    async def _run(self, function: Callable[..., T], *arguments: Any, **how: Any) -> T:
        call = self._thread.submit(partial(function, *arguments, **how))
        future = asyncio.wrap_future(call)
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            while not call.cancel() and not call.done():
                self._computer.interrupt()
                await asyncio.wait([future], timeout=_AGAIN)
            future.add_done_callback(_ignore)
            raise


def _ignore(future: asyncio.Future[Any]) -> None:
    """Take the exception of an interrupted call, so that asyncio does not report it as forgotten."""
    if not future.cancelled():
        future.exception()
