"""Action maps: from the actions of a learner, such as a number, to keyboard and pointer events.

An action describes the state that keyboard and pointer should have: which keys are down, where the pointer is. A map
sends the events that lead from the present state to that one. An action therefore lasts until the next one, and the
same action twice in a row sends nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from gymnasium.spaces import Box, Dict, Discrete, MultiBinary, Space

from universe_client.errors import ConfigError
from universe_client.spaces import actions
from universe_client.spaces.events import EVERYDAY, PRINTABLE, EventSpace
from vnc.events import Event, KeyEvent, PointerEvent
from vnc.keysyms import keysym

Held = tuple[tuple[int, ...], PointerEvent | None]
"""The keysyms that are down, in the order in which they were pressed, and the last pointer event (None before it)."""

DEFAULT_KEY_SETS: tuple[tuple[str, ...], ...] = ((), ("Left",), ("Right",), ("Up",), ("Down",), ("space",))


class ActionMap(Protocol):
    """A protocol: how the actions of a Gymnasium space become input events.

    Pass an object with these two methods as `actions=` of `GymVectorEnv` and `GymEnv`. `KeySets`, `Keys`, `Pointer`,
    `KeysAndPointer`, `ClickGrid` and `Events` implement it. If the same action twice in a row never sends anything, set
    the class attribute `is_lasting = True`: in lock-step, `FrameSkip` then sends an action once for all its ticks.
    """

    def space(self, width: int, height: int) -> Space[Any]:
        """Return the space of the actions for a screen of this size in pixels."""
        ...

    def events(self, action: Any, held: Held, screen_size: tuple[int, int]) -> Sequence[Event]:
        """Return the events that carry out an action.

        Args:
            action: an action from the space.
            held: the keysyms that are down now, and the last pointer event or None.
            screen_size: (width, height) of the screen in pixels.

        Returns:
            The events in order; may be empty.

        Raises:
            ConfigError: `action` is not in the space.
        """
        ...


class KeySets:
    """Discrete actions: each holds a set of keys down, and releases all other keys.

    Example:
        keys = KeySets([(), ("Left",), ("Right",), ("Up", "Left")])
        env = GymVectorEnv("builtin.NeonDrive-v0", num_envs=4, actions=keys)
        env.step(np.array([0, 1, 2, 3]))
    """

    is_lasting = True

    def __init__(self, key_sets: Sequence[Sequence[str | int] | str | int] = DEFAULT_KEY_SETS) -> None:
        """Choose the keys of each action.

        Args:
            key_sets: one entry per action: a sequence of keys, or a single key. A key is a character, a name or a
                keysym, see `vnc.keysyms.keysym`. The order is that in which they are pressed.

        Raises:
            ConfigError: there are no sets, or a key is unknown.
        """
        self.keysyms = tuple(_keysyms(keys) for keys in key_sets)
        if not self.keysyms:
            raise ConfigError("actions=[] has no actions: give at least one key set")

    def space(self, width: int, height: int) -> Space[Any]:
        """Return `Discrete(number of sets)`."""
        return Discrete(len(self.keysyms))

    def events(self, action: Any, held: Held, screen_size: tuple[int, int]) -> list[Event]:
        """Return the events that leave exactly the keys of set number `action` down."""
        return _hold(self.keysyms[choice(action, len(self.keysyms))], held)


class Keys:
    """MultiBinary actions: one bit per key, 1 for a key that is down.

    Example:
        env = GymVectorEnv("builtin.NeonDrive-v0", num_envs=4, actions=Keys(["Left", "Right", "Up", "Down"]))
        env.step(np.array([[1, 0, 1, 0]] * 4))
    """

    is_lasting = True

    def __init__(self, keys: Sequence[str | int]) -> None:
        """Choose the keys, one per bit, as in `KeySets`.

        Raises:
            ConfigError: there are no keys, or one is unknown.
        """
        self.keysyms = _keysyms(keys)
        if not self.keysyms:
            raise ConfigError("Keys([]) has no keys: give at least one")

    def space(self, width: int, height: int) -> Space[Any]:
        """Return `MultiBinary(number of keys)`."""
        return MultiBinary(len(self.keysyms))

    def events(self, action: Any, held: Held, screen_size: tuple[int, int]) -> list[Event]:
        """Return the events that leave exactly the keys with bit 1 down."""
        bits = np.asarray(action)
        if bits.shape != (len(self.keysyms),) or not np.isin(bits, (0, 1)).all():
            raise ConfigError(f"action {action!r} is not an array of {len(self.keysyms)} bits")
        return _hold([key for key, bit in zip(self.keysyms, bits, strict=True) if bit], held)


class Pointer:
    """Box actions with values from -1 to 1: the position of the pointer, then one number per button, down if above 0.

    (-1, -1) is the top left pixel of the screen, (1, 1) the bottom right one. Values outside are clipped.

    Example:
        env = GymVectorEnv("builtin.NeonDrive-v0", num_envs=4, actions=Pointer(buttons=[actions.LEFT]))
        env.step(np.array([[0.0, 0.0, 1.0]] * 4))  # the left button goes down in the middle of each screen
    """

    is_lasting = True

    def __init__(self, buttons: Sequence[int] = (actions.LEFT,)) -> None:
        """Choose the buttons.

        Args:
            buttons: the bit of each button in a button mask: 1 left, 2 middle, 4 right (RFC 6143 section 7.5.5).

        Raises:
            ConfigError: a value is not a single bit from 1 to 128.
        """
        if any(button not in (1, 2, 4, 8, 16, 32, 64, 128) for button in buttons):
            raise ConfigError(f"buttons={buttons!r} must be single bits of a button mask: 1, 2, 4, ... 128")
        self.buttons = tuple(buttons)

    def space(self, width: int, height: int) -> Space[Any]:
        """Return a float32 `Box` of shape (2 + number of buttons,): x, y, and the buttons."""
        return Box(-1.0, 1.0, (2 + len(self.buttons),), np.float32)

    def events(self, action: Any, held: Held, screen_size: tuple[int, int]) -> list[Event]:
        """Return one event with the new position and buttons; none if they have not changed."""
        numbers = np.asarray(action, np.float64)
        if numbers.shape != (2 + len(self.buttons),) or not np.isfinite(numbers).all():
            raise ConfigError(f"action {action!r} is not an array of {2 + len(self.buttons)} finite numbers")
        place = (np.clip(numbers[:2], -1, 1) + 1) / 2 * (np.array(screen_size) - 1)
        mask = sum(button for button, number in zip(self.buttons, numbers[2:], strict=True) if number > 0)
        pointer = PointerEvent(round(place[0]), round(place[1]), mask)
        return [] if pointer == held[1] else [pointer]


class KeysAndPointer:
    """Dict actions `{"keys": ..., "pointer": ...}`, for a map of keys and a map of the pointer.

    Example:
        both = KeysAndPointer(Keys(["shift"]), Pointer())
        env = GymVectorEnv("builtin.NeonDrive-v0", num_envs=4, actions=both)
    """

    def __init__(self, keys: ActionMap, pointer: ActionMap) -> None:
        """Join a map of keys, such as `Keys`, and a map of the pointer, such as `Pointer` or `ClickGrid`."""
        self.keys, self.pointer = keys, pointer
        self.is_lasting = is_lasting(keys) and is_lasting(pointer)

    def space(self, width: int, height: int) -> Space[Any]:
        """Return a `Dict` of the two spaces."""
        return Dict(keys=self.keys.space(width, height), pointer=self.pointer.space(width, height))

    def events(self, action: Any, held: Held, screen_size: tuple[int, int]) -> list[Event]:
        """Return the events of the pointer, then those of the keys."""
        try:
            pointer, keys = action["pointer"], action["keys"]
        except (TypeError, KeyError, IndexError):
            raise ConfigError(f"action {action!r} is not a dict with 'keys' and 'pointer'") from None
        return [*self.pointer.events(pointer, held, screen_size), *self.keys.events(keys, held, screen_size)]


class Events:
    """Lists of input events as actions, as `VectorEnv` has them; a batch is a tuple with one list per remote."""

    def __init__(
        self,
        keys: Sequence[str | int] = PRINTABLE + EVERYDAY,
        button_masks: Sequence[int] = tuple(range(256)),
    ) -> None:
        """Choose which events `sample` and `contains` of the space use; see `EventSpace`. Any event may be sent."""
        self._keys, self._button_masks = tuple(keys), tuple(button_masks)

    def space(self, width: int, height: int) -> Space[Any]:
        """Return an `EventSpace` for a screen of this size."""
        return EventSpace(width, height, self._keys, self._button_masks)

    def events(self, action: Any, held: Held, screen_size: tuple[int, int]) -> list[Event]:
        """Return the events of `action`, unchanged."""
        return actions.parse(action, slot=0)


def action_map(argument: str | Sequence[Any] | ActionMap | None) -> ActionMap:
    """Return the action map for an `actions=` argument.

    Args:
        argument: None for `KeySets()`, a list of key sets, `"events"` for `Events()`, or an action map.

    Raises:
        ConfigError: the argument is none of these, or contains an unknown key.
    """
    if argument is None:
        return KeySets()
    if argument == "events":
        return Events()
    if isinstance(argument, str):
        raise ConfigError(f"actions={argument!r} is neither 'events', a list of key sets nor an action map")
    if isinstance(argument, Sequence):
        return KeySets(argument)
    return argument


def is_lasting(actions: ActionMap) -> bool:
    """Return whether the same action twice in a row never sends anything."""
    return bool(getattr(actions, "is_lasting", False))


def choice(action: Any, count: int) -> int:
    """Return a Discrete action as an int from 0 to `count` - 1.

    Raises:
        ConfigError: it is not an integer, or out of range.
    """
    try:
        number = int(action)
    except (TypeError, ValueError):
        raise ConfigError(f"action {action!r} is not a number") from None
    if number != action or not 0 <= number < count:
        raise ConfigError(f"action {action!r} is not within 0..{count - 1}")
    return number


def _keysyms(keys: Sequence[str | int] | str | int) -> tuple[int, ...]:
    names = (keys,) if isinstance(keys, str | int) else keys
    try:
        return tuple(keysym(name) for name in names)
    except ValueError as error:
        raise ConfigError(f"keys {keys!r}: {error}") from None


def _hold(keysyms: Sequence[int], held: Held) -> list[Event]:
    """Return the events that release all other keys, the last one first, and press the missing `keysyms` in order."""
    released: list[Event] = [KeyEvent(key, False) for key in reversed(held[0]) if key not in keysyms]
    return released + [KeyEvent(key, True) for key in keysyms if key not in held[0]]
