"""A runtime played by hand, at its own pace."""

from __future__ import annotations

import time
from collections.abc import Callable

from rewarder.sdk.environment import Runtime, Tick

TIMEOUT = 15.0


def play(runtime: Runtime, enough: Callable[[list[Tick]], object], seconds: float = TIMEOUT) -> list[Tick]:
    """Tick without input until `enough` of what was seen so far; return all of it."""
    deadline = time.monotonic() + seconds
    seen = [runtime.tick([])]
    while not enough(seen):
        assert time.monotonic() < deadline, f"only {[tick for tick in seen if tick.reward or tick.info]}"
        time.sleep(1 / runtime.fps)  # its own pace
        seen.append(runtime.tick([]))
    return seen
