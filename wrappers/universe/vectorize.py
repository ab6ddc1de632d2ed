"""One remote with lists of one again, after `Unvectorize`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from universe_client.errors import ConfigError
from wrappers.universe.wrapper import Wrapper, times


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

    def send(self, action_n: Sequence[Any], at: float | Sequence[float | None] | None = None) -> None:
        """Send the only action of the list, now or at a time.

        Raises:
            ConfigError: the list has another length than 1.
        """
        self._check_length("action_n", action_n)
        if isinstance(at, Sequence):
            self._check_length("at", at)
            at = at[0]
        self.env.send(action_n[0], **times(at))

    def play(self, sequence_n: Sequence[Any]) -> None:
        """Plan the only sequence of the list; see `VectorEnv.play`.

        Raises:
            ConfigError: the list has another length than 1.
        """
        self._check_length("sequence_n", sequence_n)
        if sequence_n[0] is not None:
            self.env.play(sequence_n[0])

    def _check_length(self, name: str, values: Sequence[Any]) -> None:
        if len(values) != 1:
            raise ConfigError(f"{name} has {len(values)} entries for one remote")

    def recv(self, mask: Sequence[bool] | None = None) -> tuple[Any, Any, Any, Any]:
        """Return lists of one; the remote's info is `info["n"][0]`. See `VectorEnv.recv`."""
        observation, reward, done, info = self.env.recv(mask)
        return [observation], [reward], [done], {"n": [info]}
