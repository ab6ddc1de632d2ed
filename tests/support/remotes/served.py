"""Runtimes that are served in the test's process."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from typing import Any

import numpy as np
import pytest

from rewarder.client import RewarderAddress
from rewarder.sdk.runtime import Ports, Runtime, Tick, serve
from universe_client.core.event_loop.loop import LoopThread
from universe_client.providers.provider import RemoteAddress
from vnc.events import Event
from vnc.session import VNCAddress

WIDTH, HEIGHT = 24, 16


class Counting(Runtime):
    """Shows the number of the tick in red, of the episode in green, and the newest key in blue.

    Each tick brings its number as reward. The episode ends with tick `last`.
    """

    env_ids = ("test.Counting-v0",)
    width, height = WIDTH, HEIGHT
    lockstep = True

    def __init__(self, last: int = 1000, *, fps: float = 60) -> None:
        self.fps = fps
        self.last = last
        self.episodes = self.ticks = 0
        self.seeds: list[int | None] = []

    def reset(self, env_id: str, seed: int | None) -> Tick:
        self.seeds.append(seed)
        self.episodes += 1
        self.ticks = self.key = 0
        return Tick(frame=self._draw())

    def tick(self, events: Sequence[Event]) -> Tick:
        self.ticks += 1
        for event in events:
            self.key = getattr(event, "keysym", 0) % 256
        return Tick(frame=self._draw(), reward=float(self.ticks), done=self.ticks == self.last)

    def _draw(self) -> np.ndarray[Any, np.dtype[np.uint8]]:
        pixel = [self.ticks % 256, self.episodes % 256, self.key]
        return np.tile(np.array(pixel, np.uint8), (HEIGHT, WIDTH, 1))


@pytest.fixture
def serve_runtime(far_side: LoopThread) -> Iterator[Callable[..., RemoteAddress]]:
    """Serve a runtime until the end of the test; return its address."""
    tasks: list[asyncio.Task[None]] = []

    async def start(runtime: Runtime, ready: Future[Ports], options: dict[str, Any]) -> None:
        tasks.append(asyncio.create_task(serve(runtime, on_ready=ready.set_result, **options)))

    async def stop() -> None:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def begin(runtime: Runtime, **options: Any) -> RemoteAddress:
        ready: Future[Ports] = Future()
        far_side.run(start(runtime, ready, options))
        ports = ready.result(10)
        host = "127.0.0.1"
        return RemoteAddress(VNCAddress(host, ports.vnc_port), RewarderAddress(host, ports.rewarder_port))

    yield begin
    far_side.run(stop(), 60)
