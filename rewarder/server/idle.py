"""Detect that no client has been connected for some time."""

from __future__ import annotations

import asyncio


class IdleWatch:
    """A timer that runs while no client is connected. Use it on the event loop's thread."""

    def __init__(self, timeout: float | None) -> None:
        """Create a stopped timer.

        Args:
            timeout: in seconds; None is never.
        """
        self._timeout = timeout
        self._over = asyncio.Event()
        self._timer: asyncio.TimerHandle | None = None

    def update(self, *, busy: bool) -> None:
        """Stop the timer if `busy`, a client is connected; otherwise start it unless it runs."""
        if busy:
            self.stop()
            self._over.clear()
        elif self._timer is None and self._timeout is not None:
            self._timer = asyncio.get_running_loop().call_later(self._timeout, self._over.set)

    def stop(self) -> None:
        """Stop the timer."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    async def over(self) -> None:
        """Wait for the timeout."""
        await self._over.wait()
