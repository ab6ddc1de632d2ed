"""One remote without the lists."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from universe_client.errors import ConfigError
from universe_client.vector_env import VectorEnv
from wrappers.universe.wrapper import Wrapper


class Unvectorize(Wrapper):
    """Takes and gives single values instead of lists of one; the info is the remote's own.

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
        """Wrap `env`, a vector of one."""
        super().__init__(env)
        if env.n != 1:
            raise ConfigError(f"Unvectorize takes a vector of one remote, not of {env.n}")

    @property
    def gives_lists(self) -> bool:
        """False."""
        return False

    def reset(self, **options: Any) -> Any:
        """Reset; return the observation."""
        return self.env.reset(**options)[0]

    def send(self, action: Sequence[Any]) -> None:
        """Send one list of events."""
        self.env.send([action])

    def recv(self, mask: Sequence[bool] | None = None) -> tuple[Any, Any, Any, Any]:
        """Return observation, reward, done and info of the one remote."""
        observation_n, reward_n, done_n, info = self.env.recv(mask)
        return observation_n[0], reward_n[0], done_n[0], info["n"][0]
