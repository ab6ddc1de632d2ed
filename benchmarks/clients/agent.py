"""An agent with one remote: `python -m benchmarks.clients.agent rate|keys DRIVER idle|busy PORT`.

The agent's thread waits (idle) or computes in plain Python (busy) while the driver reads and decodes. `rate` prints
the updates per second that arrived; `keys` prints the times from key to pixel, in seconds, as a JSON list.
"""

from __future__ import annotations

import asyncio
import random
import sys
import threading
import time
from collections.abc import Callable

import msgspec
import numpy as np

from benchmarks.clients.meter import PATIENT
from universe_client.core.event_loop.loop import LoopThread
from vnc.client import portable
from vnc.events import KeyEvent
from vnc.session import Connect, Session, VNCAddress

SECONDS = 3.0
KEYS = 60
_SPACE = 0x20
_PAUSE = 0.02, 0.06  # between keys; random, so that they do not synchronize with the server's frames
_KEY_TIMEOUT = 3.0


class OurScreen:
    """A session of one of this package's drivers."""

    def __init__(self, loop: LoopThread, connect: Connect, port: int) -> None:
        self.changed = threading.Event()
        self._loop = loop
        address = VNCAddress("127.0.0.1", port)
        self._session: Session = loop.run(connect(address, on_change=self.changed.set, timeouts=PATIENT))
        self._frame = np.zeros(self._session.shape, np.uint8)

    @property
    def frames(self) -> int:
        return self._session.frames

    @property
    def frame_time(self) -> float:
        return self._session.frame_time

    def pixel(self) -> tuple[int, ...]:
        self._session.take(self._frame)
        return tuple(self._frame[8, 8].tolist())

    def press(self) -> None:
        self._session.send([KeyEvent(_SPACE, True), KeyEvent(_SPACE, False)])

    def close(self) -> None:
        self._loop.run(self._session.close())


class AsyncvncScreen:
    """asyncvnc on an event loop in a thread, as an agent would use it."""

    def __init__(self, loop: LoopThread, port: int) -> None:
        self.changed = threading.Event()
        self.frames, self.frame_time = 0, 0.0
        self._ready = threading.Event()
        self._loop = loop
        loop.call(self._start, port)
        self._ready.wait()

    def _start(self, port: int) -> None:
        self._task = asyncio.get_running_loop().create_task(self._run(port))

    async def _run(self, port: int) -> None:
        import asyncvnc

        async with asyncvnc.connect("127.0.0.1", port) as client:
            self._client = client
            self._ready.set()
            while True:
                client.video.refresh()
                await client.read()
                self.frames += 1
                self.frame_time = time.monotonic()
                self.changed.set()

    def pixel(self) -> tuple[int, ...]:
        data = self._client.video.data
        return () if data is None else tuple(data[8, 8, :3].tolist())

    def press(self) -> None:
        self._loop.call(self._client.keyboard.press, "space")

    def close(self) -> None:
        self._loop.call(self._task.cancel)


Screen = OurScreen | AsyncvncScreen


def open_screen(loop: LoopThread, driver: str, port: int) -> Screen:
    if driver == "asyncvnc":
        return AsyncvncScreen(loop, port)
    if driver == "native":
        from vnc.client import native

        return OurScreen(loop, native.connect, port)
    return OurScreen(loop, portable.connect, port)


def wait_idle(screen: Screen, condition: Callable[[], bool], seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        left = deadline - time.monotonic()
        if left <= 0:
            return False
        screen.changed.wait(left)
        screen.changed.clear()
    return True


def wait_busy(screen: Screen, condition: Callable[[], bool], seconds: float) -> bool:
    """Compute in plain Python and check the condition at intervals, as an agent does."""
    deadline = time.monotonic() + seconds
    number = 1
    while not condition():
        if time.monotonic() > deadline:
            return False
        for _ in range(1000):
            number = (number * 1103515245 + 12345) % 2147483648
    return True


_WAITS = {"idle": wait_idle, "busy": wait_busy}


def rate(screen: Screen, mode: str) -> float:
    wait = _WAITS[mode]
    if not wait(screen, lambda: screen.frames > 0, 30):
        return 0.0
    began, frames = time.monotonic(), screen.frames
    wait(screen, lambda: False, SECONDS)
    return (screen.frames - frames) / (time.monotonic() - began)


def keys(screen: Screen, mode: str) -> list[float]:
    wait = _WAITS[mode]
    chance = random.Random(1)
    if not wait(screen, lambda: screen.frames > 0 and max(screen.pixel() or (0,)) == 255, 30):
        raise SystemExit("the screen stays black")
    times = []
    for _ in range(KEYS):
        wait(screen, lambda: False, chance.uniform(*_PAUSE))
        times.append(_time_key(screen, wait))
    return times


def _time_key(screen: Screen, wait: Callable[..., bool]) -> float:
    before = screen.pixel()
    looked = screen.frames

    def changed() -> bool:
        nonlocal looked
        if screen.frames == looked:
            return False
        looked = screen.frames
        return screen.pixel() != before

    began = time.monotonic()
    screen.press()
    return screen.frame_time - began if wait(screen, changed, _KEY_TIMEOUT) else _KEY_TIMEOUT


def main() -> None:
    what, driver, mode, port = sys.argv[1:]
    loop = LoopThread("driver")
    screen = open_screen(loop, driver, int(port))
    found = rate(screen, mode) if what == "rate" else keys(screen, mode)
    print(msgspec.json.encode(found).decode(), flush=True)
    screen.close()
    loop.stop(asyncio.sleep(0))


if __name__ == "__main__":
    main()
