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
    """Limits the rate of steps: sends actions at once, then waits for the step's deadline before it receives.

    Deadlines are absolute, so the time that the agent spends between steps is part of the period and small delays do
    not add up. A step that is later than its deadline does not wait. It is counted in `missed`, and the next period
    begins at that time: the wrapper does not catch up with a burst of steps.

    Attributes:
        pacer: the `Pacer` that holds the deadlines.

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
            env: a `VectorEnv`, with or without wrappers.
            step_rate: steps per second.

        Raises:
            ConfigError: `step_rate` is not positive.
        """
        super().__init__(env)
        self.pacer = Pacer(step_rate)

    @property
    def missed(self) -> int:
        """The number of steps that were later than their deadline."""
        return self.pacer.missed

    def reset(self, **options: Any) -> list[Any]:
        """Reset the remotes and begin the first period; see `VectorEnv.reset`."""
        self.pacer.restart()
        return self.env.reset(**options)

    def recv(self, mask: Sequence[bool] | None = None) -> tuple[Any, Any, Any, Any]:
        """Wait for the deadline and return the results; `info["throttle.missed"]` is `missed`. See `VectorEnv.recv`."""
        self.pacer.wait()
        observation_n, reward_n, done_n, info = self.env.recv(mask)
        self.unwrapped.core.expect_look(self.pacer)
        return observation_n, reward_n, done_n, info | {"throttle.missed": self.missed}

    def close(self) -> None:
        """Close the environment, and end the wait of a step in another thread."""
        self.pacer.close()
        self.env.close()
