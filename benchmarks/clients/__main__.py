"""A VNC client in its own process: `python -m benchmarks.clients NAME PORT UPDATES [REMOTES SECONDS]`.

It connects to a replay and prints JSON: the CPU time (user and system, of all threads) and the elapsed time from the
first update to number UPDATES, and the memory per connection. With SECONDS it ends after that time.
"""

from __future__ import annotations

import asyncio
import functools
import math
import sys
import time
from collections.abc import Callable, Coroutine
from typing import Any

import msgspec
import numpy as np

from benchmarks.clients.meter import PATIENT, Meter, Usage
from vnc.client import portable
from vnc.session import Connect, Session, VNCAddress

_LOOK = 0.02


class _Sessions:
    """Sessions of one driver; with `take` each frame is copied out, as in a step."""

    def __init__(self, take: bool) -> None:
        self.sessions: list[Session] = []
        self._frames: list[np.ndarray] = []
        self._take = take
        self._news = asyncio.Event()
        self._error: Exception | None = None

    async def open(self, connect: Connect, address: VNCAddress, remotes: int) -> None:
        for index in range(remotes):
            on_change = functools.partial(self._changed, index)
            self.sessions.append(await connect(address, on_change=on_change, timeouts=PATIENT))
        if self._take:
            self._frames = [np.zeros(session.shape, np.uint8) for session in self.sessions]
        while any(session.frames < 1 for session in self.sessions):
            self._news.clear()
            await self._news.wait()

    @property
    def updates(self) -> int:
        return sum(session.frames for session in self.sessions)

    @property
    def newest(self) -> float:
        """The time of the newest frame, on the monotonic clock."""
        return max(session.frame_time for session in self.sessions)

    async def until(self, frames: int, seconds: float) -> None:
        """Wait until each session has had `frames` frames, or until `seconds` have passed, if not 0.

        This polls at intervals, to measure the driver and not its callbacks to Python.
        """
        deadline = time.monotonic() + (seconds or math.inf)
        waiting = list(self.sessions)
        while waiting and time.monotonic() < deadline:
            await asyncio.sleep(_LOOK)
            if self._error is not None:
                raise self._error
            while waiting and waiting[-1].frames >= frames:
                waiting.pop()

    def _changed(self, index: int) -> None:
        self._news.set()
        if index >= len(self.sessions):
            return  # its `connect` has not returned yet
        session = self.sessions[index]
        self._error = self._error or session.error
        if self._frames:
            session.take(self._frames[index])


Client = Callable[[int, int, int, float], Coroutine[Any, Any, Usage]]
"""Called with the port of a replay, the number of updates and of remotes, and the seconds, 0 for no bound."""


async def _ours(connect: Connect, take: bool, port: int, updates: int, remotes: int, seconds: float) -> Usage:
    meter = Meter(remotes)
    held = _Sessions(take)
    await held.open(connect, VNCAddress("127.0.0.1", port), remotes)
    meter.begin(held.updates)
    await held.until(updates, seconds)
    usage = meter.usage(held.updates, held.newest)
    for session in held.sessions:
        await session.close()
    return usage


async def _native(take: bool, port: int, updates: int, remotes: int, seconds: float) -> Usage:
    from vnc.client import native

    return await _ours(native.connect, take, port, updates, remotes, seconds)


async def _asyncvnc(port: int, updates: int, remotes: int, seconds: float) -> Usage:
    import asyncvnc

    meter = Meter()
    async with asyncvnc.connect("127.0.0.1", port) as client:
        for number in range(updates):
            client.video.refresh()
            await client.read()
            if number == 0:
                meter.begin(1)
        return meter.usage(updates, time.monotonic())


_CLIENTS: dict[str, Client] = {
    "native": functools.partial(_native, False),
    "native+take": functools.partial(_native, True),
    "portable": functools.partial(_ours, portable.connect, False),
    "asyncvnc": _asyncvnc,
}


def main() -> None:
    name, port, updates, *rest = sys.argv[1:]
    if name == "vncdotool":
        from benchmarks.clients.vncdotool_client import run

        usage = run(int(port), int(updates))
    else:
        remotes, seconds = rest or ("1", "0")
        usage = asyncio.run(_CLIENTS[name](int(port), int(updates), int(remotes), float(seconds)))
    print(msgspec.json.encode(usage).decode(), flush=True)


if __name__ == "__main__":
    main()
