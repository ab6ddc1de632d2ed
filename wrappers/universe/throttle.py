"""Steps at a fixed rate."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from typing import Any, ClassVar

from universe_client.errors import ConfigError
from universe_client.renamed import refuse_old_arguments
from universe_client.vector_env import VectorEnv
from wrappers.universe.wrapper import Wrapper


@refuse_old_arguments
class Throttle(Wrapper):
    """Sends actions at once, and holds each step's results back until they are due.

    Deadlines are absolute: the time the agent spends is part of its period, and small delays do not add up. A step
    that comes after its deadline returns at once, counts in `missed`, and the next period begins there: lost time is
    not made up for by a burst.

    Example:
        env = Throttle(universe_client.make("builtin.NeonDrive-v0", remotes=4), step_rate=15)
        observation_n = env.reset()
        while True:
            observation_n, reward_n, done_n, info = env.step(agent(observation_n))
            late = info["throttle.missed"]
    """

    instead: ClassVar[str] = "step_rate="

    def __init__(self, env: VectorEnv | Wrapper, step_rate: float = 60.0) -> None:
        """Wrap `env`; `step_rate` is in steps per second."""
        super().__init__(env)
        if not step_rate > 0:
            raise ConfigError(f"step_rate={step_rate!r} is not a positive rate")
        self.step_rate = step_rate
        self.missed = 0
        self._deadline: float | None = None
        self._closed = threading.Event()

    def reset(self, **options: Any) -> list[Any]:
        """Reset; the first period begins now."""
        self._deadline = time.monotonic() + 1 / self.step_rate
        return self.env.reset(**options)

    def recv(self, mask: Sequence[bool] | None = None) -> tuple[Any, Any, Any, Any]:
        """Wait until the step is due, then receive; `info["throttle.missed"]` counts the late ones so far."""
        self._await_deadline()
        observation_n, reward_n, done_n, info = self.env.recv(mask)
        return observation_n, reward_n, done_n, info | {"throttle.missed": self.missed}

    def _await_deadline(self) -> None:
        now = time.monotonic()
        due = now if self._deadline is None else self._deadline
        if now > due:
            self.missed += 1
            due = now
        self._closed.wait(due - now)
        self._deadline = due + 1 / self.step_rate

    def close(self) -> None:
        """Close, and wake a step that waits in another thread."""
        self._closed.set()
        self.env.close()
