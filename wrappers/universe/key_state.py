"""Actions that say what is to be held down, on Universe's face."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from gymnasium.spaces import Space

from universe_client.errors import ConfigError
from universe_client.spaces.action_maps import ActionMap, action_map
from universe_client.vector_env import DEFAULT_SCREEN, VectorEnv
from vnc.events import Event
from wrappers.universe.wrapper import Wrapper


class KeyState(Wrapper):
    """Takes the actions of a Gymnasium space, one per remote, and sends the events that bring them about.

    `Discrete` for sets of keys, `MultiBinary` for a bit per key, `Box` for the pointer, or a `Dict` of both: whatever
    the maps of `universe_client.spaces.action_maps` make of them, as with `actions=` of Gymnasium's faces. None sends
    nothing.

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
        """Wrap `env`; `actions` is as for `universe_client.GymVectorEnv`."""
        super().__init__(env)
        self._map = action_map(actions)

    @property
    def action_space(self) -> Space[Any]:
        """The actions for one remote, on the first screen seen."""
        events = self.unwrapped.action_space
        return self._map.space(events.width, events.height)

    def send(self, action_n: Sequence[Any]) -> None:
        """Send one action to each remote.

        Raises:
            ConfigError: not `n` actions, or one is not in the space; nothing has been sent.
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
