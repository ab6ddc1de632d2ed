"""Notices that nobody has been there for long."""

from __future__ import annotations

import asyncio


class IdleWatch:
    """A clock that runs while nobody is there. Use it on the event loop's thread."""

    def __init__(self, timeout: float | None) -> None:
        """Make one that does not run yet.

        Args:
            timeout: seconds without anybody that are too many; None: none are.
        """
        self._timeout = timeout
        self._over = asyncio.Event()
        self._timer: asyncio.TimerHandle | None = None

    def tell(self, *, busy: bool) -> None:
        """Somebody is there now, or nobody."""
        if busy:
            self.stop()
            self._over.clear()
        elif self._timer is None and self._timeout is not None:
            self._timer = asyncio.get_running_loop().call_later(self._timeout, self._over.set)

    def stop(self) -> None:
        """Stop the clock."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    async def over(self) -> None:
        """Wait until nobody has been there for too long."""
        await self._over.wait()
