"""One remote with lists of one again, after `Unvectorize`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from universe_client.errors import ConfigError
from wrappers.universe.wrapper import Wrapper


class Vectorize(Wrapper):
    """Takes and returns lists of one around wrappers that were written for single values: the inverse of `Unvectorize`.

    Example:
        class Invert(Wrapper):  # written for single values
            def recv(self, mask=None):
                observation, reward, done, info = self.env.recv(mask)
                return observation, -reward, done, info

        env = Vectorize(Invert(Unvectorize(universe_client.make("builtin.NeonDrive-v0"))))
        observation_n = env.reset()
    """

    instead: ClassVar[str] = "universe_client.GymVectorEnv"
    takes_lists: ClassVar[bool | None] = False

    def __init__(self, env: Wrapper) -> None:
        """Wrap `env`.

        Args:
            env: an `Unvectorize`, with or without wrappers around it.

        Raises:
            ConfigError: `env` returns lists.
        """
        super().__init__(env)

    @property
    def gives_lists(self) -> bool:
        """True: results are lists of one."""
        return True

    def reset(self, **options: Any) -> list[Any]:
        """Reset the remote and return a list of one observation; see `VectorEnv.reset`."""
        return [self.env.reset(**options)]

    def send(self, action_n: Sequence[Any]) -> None:
        """Send the only action of the list.

        Raises:
            ConfigError: the list has another length than 1.
        """
        if len(action_n) != 1:
            raise ConfigError(f"action_n has {len(action_n)} entries for one remote")
        self.env.send(action_n[0])

    def recv(self, mask: Sequence[bool] | None = None) -> tuple[Any, Any, Any, Any]:
        """Return lists of one; the remote's info is `info["n"][0]`. See `VectorEnv.recv`."""
        observation, reward, done, info = self.env.recv(mask)
        return [observation], [reward], [done], {"n": [info]}
