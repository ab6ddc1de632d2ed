"""Actions that name the keys to hold, for `universe_client.VectorEnv`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from gymnasium.spaces import Space

from universe_client.core.vector import DEFAULT_SCREEN
from universe_client.errors import ConfigError
from universe_client.spaces.action_maps import ActionMap, action_map
from universe_client.vector_env import VectorEnv
from vnc.events import Event
from wrappers.universe.wrapper import Wrapper


class KeyState(Wrapper):
    """Converts actions of a Gymnasium space to input events.

    The space is `Discrete` for sets of keys, `MultiBinary` for one bit per key, `Box` for the pointer, or a `Dict` of
    keys and pointer; see `universe_client.spaces.action_maps`. An action states what is held down; the wrapper sends
    the events that change the present state into it. The action None sends nothing.

    Example:
        env = KeyState(universe_client.make("builtin.NeonDrive-v0", remotes=4), [(), "Left", "Right"])
        env.reset()
        observation_n, reward_n, done_n, info = env.step([env.action_space.sample() for _ in range(4)])
    """

    instead: ClassVar[str] = "actions="
    takes_lists: ClassVar[bool | None] = True

    def __init__(
        self, env: VectorEnv | Wrapper, actions: str | Sequence[Any] | ActionMap | None = None
    ) -> None:
        """Wrap `env`.

        Args:
            env: a `VectorEnv`, with or without wrappers.
            actions: None for the arrow keys and space, a list of key sets, or an `ActionMap`, as for
                `universe_client.GymVectorEnv`.

        Raises:
            ConfigError: `actions` is none of these.
        """
        super().__init__(env)
        self._map = action_map(actions)

    @property
    def action_space(self) -> Space[Any]:
        """The action space of one remote, for the size of the first screen that the environment received."""
        events = self.unwrapped.action_space
        return self._map.space(events.width, events.height)

    def send(self, action_n: Sequence[Any]) -> None:
        """Send one action to each remote.

        Args:
            action_n: one action of `action_space` or None per remote.

        Raises:
            ConfigError: the length is not `n`, or an action is not in the space. Nothing has been sent then.
        """
        if len(action_n) != self.n:
            raise ConfigError(f"action_n has {len(action_n)} entries for {self.n} remotes")
        self.env.send([self._events(slot, action) for slot, action in enumerate(action_n)])

    def _events(self, slot: int, action: Any) -> Sequence[Event]:
        if action is None:
            return []
        link = self.unwrapped.remotes[slot].link
        session = link.session
        screen = DEFAULT_SCREEN if session is None else (session.shape[1], session.shape[0])
        try:
            return self._map.events(action, link.held, screen)
        except ConfigError as error:
            raise ConfigError(f"remote {slot}: {error}") from None
