"""Play a runtime without a server."""

from __future__ import annotations

import time
from collections.abc import Callable

from rewarder.sdk.environment import Runtime, Tick

TIMEOUT = 60.0


def play(runtime: Runtime, enough: Callable[[list[Tick]], object], seconds: float = TIMEOUT) -> list[Tick]:
    """Tick without input until `enough(ticks)`; return all ticks."""
    deadline = time.monotonic() + seconds
    seen = [runtime.tick([])]
    while not enough(seen):
        assert time.monotonic() < deadline, f"only {[tick for tick in seen if tick.reward or tick.info]}"
        time.sleep(1 / runtime.fps)  # at the runtime's own rate
        seen.append(runtime.tick([]))
    return seen
