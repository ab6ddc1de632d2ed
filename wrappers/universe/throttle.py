"""Steps at a fixed rate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from universe_client.pacer import Pacer
from universe_client.renamed import refuse_old_names
from universe_client.vector_env import VectorEnv
from wrappers.universe.wrapper import Wrapper


@refuse_old_names
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
        """Wrap `env`.

        Args:
            env: a `VectorEnv`, or a wrapper of one.
            step_rate: steps per second.

        Raises:
            ConfigError: `step_rate` is not positive.
        """
        super().__init__(env)
        self.pacer = Pacer(step_rate)

    @property
    def missed(self) -> int:
        """The number of steps so far that came after their deadline."""
        return self.pacer.missed

    def reset(self, **options: Any) -> list[Any]:
        """Reset; the first period begins now."""
        self.pacer.restart()
        return self.env.reset(**options)

    def recv(self, mask: Sequence[bool] | None = None) -> tuple[Any, Any, Any, Any]:
        """Wait until the deadline, then receive; `info["throttle.missed"]` is `missed`."""
        self.pacer.wait()
        observation_n, reward_n, done_n, info = self.env.recv(mask)
        return observation_n, reward_n, done_n, info | {"throttle.missed": self.missed}

    def close(self) -> None:
        """Close, and wake a step that waits in another thread."""
        self.pacer.close()
        self.env.close()
