"""Actions that name the keys to hold, for `universe_client.VectorEnv`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from gymnasium.spaces import Space

from universe_client.core.input.held import Held, HeldInput
from universe_client.core.vector import DEFAULT_SCREEN
from universe_client.errors import ConfigError
from universe_client.spaces import timed
from universe_client.spaces.action_maps import ActionMap, action_map
from universe_client.vector_env import VectorEnv
from vnc.events import Event, TimedEvents
from wrappers.universe.wrapper import Wrapper, times


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

    def send(self, action_n: Sequence[Any], at: float | Sequence[float | None] | None = None) -> None:
        """Send one action to each remote, now or at a time.

        Args:
            action_n: one action of `action_space` or None per remote.
            at: see `VectorEnv.send`.

        Raises:
            ConfigError: the length is not `n`, or an action is not in the space. Nothing has been sent then.
        """
        self._check_length("action_n", action_n)
        at_n = [None] * self.n if at is None else timed.moments(at, self.n)
        converted = [self._events(*one) for one in zip(range(self.n), action_n, at_n, strict=True)]
        sequence_n: list[list[TimedEvents] | None] = [None] * self.n
        for slot, (action, moment) in enumerate(zip(action_n, at_n, strict=True)):
            gate = self.unwrapped.remotes[slot].link.gate
            if action is None or not gate.is_waiting:
                continue
            # An action without events replaces what is planned, too.
            if moment is None:
                converted[slot] = gate.replacing(converted[slot])
            else:
                sequence_n[slot] = [(moment, gate.renewed(moment, converted[slot]))]
                converted[slot] = []
        if any(sequence_n):
            self.env.play(sequence_n)
        self.env.send(converted, **times(at))

    def play(self, sequence_n: Sequence[Any]) -> None:
        """Plan actions with times for each remote.

        Args:
            sequence_n: `n` entries, each None or pairs of a time and an action or None; see `VectorEnv.play`.

        Raises:
            ConfigError: see `VectorEnv.play`, or an action is not in the space. Nothing has been planned then.
        """
        self._check_length("sequence_n", sequence_n)
        self.env.play(
            [None if its is None else self._timed(slot, its) for slot, its in enumerate(sequence_n)]
        )

    def _timed(self, slot: int, sequence: Sequence[tuple[float, Any]]) -> list[TimedEvents]:
        converted: list[TimedEvents] = []
        held = HeldInput()
        for at, action in sequence:
            if not converted:
                held = HeldInput.of(self._held(slot, timed.moment(at, slot)))
            events = self._convert(slot, action, held.now)
            held.note(events)
            gate = self.unwrapped.remotes[slot].link.gate
            converted.append((at, events if converted else gate.renewed(at, events)))
        return converted

    def _check_length(self, name: str, values: Sequence[Any]) -> None:
        if len(values) != self.n:
            raise ConfigError(f"{name} has {len(values)} entries for {self.n} remotes")

    def _events(self, slot: int, action: Any, at: float | None) -> Sequence[Event]:
        return self._convert(slot, action, self._held(slot, at))

    def _held(self, slot: int, at: float | None) -> Held:
        gate = self.unwrapped.remotes[slot].link.gate
        return gate.held if at is None else gate.held_at(at)

    def _convert(self, slot: int, action: Any, held: Held) -> Sequence[Event]:
        """Return the events that carry out an action when this is held."""
        if action is None:
            return []
        session = self.unwrapped.remotes[slot].link.session
        screen = DEFAULT_SCREEN if session is None else (session.shape[1], session.shape[0])
        try:
            return self._map.events(action, held, screen)
        except ConfigError as error:
            raise ConfigError(f"remote {slot}: {error}") from None
