"""One remote with the lists again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from universe_client.errors import ConfigError
from wrappers.universe.wrapper import Wrapper


class Vectorize(Wrapper):
    """Takes and gives lists of one again, around wrappers that were written for single values: undoes `Unvectorize`.

    Example:
        class Invert(Wrapper):  # knows nothing of lists
            def recv(self, mask=None):
                observation, reward, done, info = self.env.recv(mask)
                return observation, -reward, done, info

        env = Vectorize(Invert(Unvectorize(universe_client.make("builtin.NeonDrive-v0"))))
        observation_n = env.reset()
    """

    instead: ClassVar[str] = "universe_client.GymVectorEnv"
    takes_lists: ClassVar[bool | None] = False

    def __init__(self, env: Wrapper) -> None:
        """Wrap `env`, an `Unvectorize` with or without wrappers around it."""
        super().__init__(env)

    @property
    def gives_lists(self) -> bool:
        """True."""
        return True

    def reset(self, **options: Any) -> list[Any]:
        """Reset; return a list of one observation."""
        return [self.env.reset(**options)]

    def send(self, action_n: Sequence[Any]) -> None:
        """Send the one action of the list."""
        if len(action_n) != 1:
            raise ConfigError(f"action_n has {len(action_n)} entries for one remote")
        self.env.send(action_n[0])

    def recv(self, mask: Sequence[bool] | None = None) -> tuple[Any, Any, Any, Any]:
        """Return lists of one, and the info as `info["n"][0]`."""
        observation, reward, done, info = self.env.recv(mask)
        return [observation], [reward], [done], {"n": [info]}
