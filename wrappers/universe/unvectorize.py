"""One remote with single values instead of lists of one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from universe_client.errors import ConfigError
from universe_client.vector_env import VectorEnv
from wrappers.universe.wrapper import Wrapper, times


class Unvectorize(Wrapper):
    """Takes and returns single values instead of lists of one. The info is the remote's own dict.

    Example:
        env = Unvectorize(BlockingReset(universe_client.make("builtin.NeonDrive-v0")))
        observation = env.reset()
        while True:
            observation, reward, done, info = env.step([("KeyEvent", "Left", True)])
            print(info["reaction_time"])
    """

    instead: ClassVar[str] = "universe_client.GymEnv"
    takes_lists: ClassVar[bool | None] = True

    def __init__(self, env: VectorEnv | Wrapper) -> None:
        """Wrap `env`.

        Args:
            env: a `VectorEnv` with one remote, with or without wrappers.

        Raises:
            ConfigError: the number of remotes is not 1.
        """
        super().__init__(env)
        if env.n != 1:
            raise ConfigError(f"Unvectorize takes a vector of one remote, not of {env.n}")

    @property
    def gives_lists(self) -> bool:
        """False: results are single values."""
        return False

    def reset(self, **options: Any) -> Any:
        """Reset the remote and return its observation; see `VectorEnv.reset`."""
        return self.env.reset(**options)[0]

    def send(self, action: Sequence[Any], at: float | Sequence[float | None] | None = None) -> None:
        """Send one list of events to the remote, now or at a time."""
        self.env.send([action], **times(at))

    def play(self, sequence: Sequence[Any]) -> None:
        """Plan actions with times, a list of pairs; see `VectorEnv.play`."""
        self.env.play([sequence])

    def recv(self, mask: Sequence[bool] | None = None) -> tuple[Any, Any, Any, Any]:
        """Return observation, reward, done and info of the remote; see `VectorEnv.recv`."""
        observation_n, reward_n, done_n, info = self.env.recv(mask)
        return observation_n[0], reward_n[0], done_n[0], info["n"][0]
