"""Between the actions of a learner and input events: what is to be held down, and the events that bring it about.

A learner's action says how the keyboard and the pointer should be, not what changes: a map sends the difference to what
is held now. So an action lasts until the next one, and the same action twice in a row sends nothing.
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
"""The keysyms that are down, and the pointer; see `Link.held`."""

DEFAULT_KEY_SETS: tuple[tuple[str, ...], ...] = ((), ("Left",), ("Right",), ("Up",), ("Down",), ("space",))


class ActionMap(Protocol):
    """How the actions of a Gymnasium space become input events."""

    def space(self, width: int, height: int) -> Space[Any]:
        """Return the space of actions for a screen of this size."""
        ...

    def events(self, action: Any, held: Held, screen_size: tuple[int, int]) -> Sequence[Event]:
        """Return the events that carry out `action` where `held` is down, on a screen of (width, height).

        Raises:
            ConfigError: `action` is not in the space.
        """
        ...


class KeySets:
    """Discrete actions; each is a set of keys to be held down, and all other keys are let go of.

    Example:
        keys = KeySets([(), ("Left",), ("Right",), ("Up", "Left")])
        env = GymVectorEnv("builtin.NeonDrive-v0", num_envs=4, actions=keys)
        env.step(np.array([0, 1, 2, 3]))
    """

    def __init__(self, key_sets: Sequence[Sequence[str | int] | str | int] = DEFAULT_KEY_SETS) -> None:
        """Name the keys of each action, as `vnc.keysyms.keysym` takes them; a single name is a set of one."""
        self.keysyms = tuple(_keysyms(keys) for keys in key_sets)
        if not self.keysyms:
            raise ConfigError("actions=[] has no actions")

    def space(self, width: int, height: int) -> Space[Any]:
        """Return one number per set."""
        return Discrete(len(self.keysyms))

    def events(self, action: Any, held: Held, screen_size: tuple[int, int]) -> list[Event]:
        """Hold the keys of set number `action`."""
        return _hold(self.keysyms[choice(action, len(self.keysyms))], held)


class Keys:
    """MultiBinary actions: one bit per key, 1 while it is to be down.

    Example:
        env = GymVectorEnv("builtin.NeonDrive-v0", num_envs=4, actions=Keys(["Left", "Right", "Up", "Down"]))
        env.step(np.array([[1, 0, 1, 0]] * 4))
    """

    def __init__(self, keys: Sequence[str | int]) -> None:
        """Name the keys, one per bit."""
        self.keysyms = _keysyms(keys)
        if not self.keysyms:
            raise ConfigError("Keys([]) has no keys")

    def space(self, width: int, height: int) -> Space[Any]:
        """Return one bit per key."""
        return MultiBinary(len(self.keysyms))

    def events(self, action: Any, held: Held, screen_size: tuple[int, int]) -> list[Event]:
        """Hold the keys whose bit is set."""
        bits = np.asarray(action)
        if bits.shape != (len(self.keysyms),) or not np.isin(bits, (0, 1)).all():
            raise ConfigError(f"action {action!r} is not {len(self.keysyms)} bits")
        return _hold([key for key, bit in zip(self.keysyms, bits, strict=True) if bit], held)


class Pointer:
    """Box actions from -1 to 1: the pointer's place on the screen, and one number per button, down above 0.

    (-1, -1) is the top left pixel, (1, 1) the bottom right one; what lies outside counts as the edge.

    Example:
        env = GymVectorEnv("builtin.NeonDrive-v0", num_envs=4, actions=Pointer(buttons=[actions.LEFT]))
        env.step(np.array([[0.0, 0.0, 1.0]] * 4))  # the left button goes down in the middle of each screen
    """

    def __init__(self, buttons: Sequence[int] = (actions.LEFT,)) -> None:
        """Name the buttons by their bits in a button_mask."""
        if any(button not in (1, 2, 4, 8, 16, 32, 64, 128) for button in buttons):
            raise ConfigError(f"buttons={buttons!r} are not single bits of a button_mask")
        self.buttons = tuple(buttons)

    def space(self, width: int, height: int) -> Space[Any]:
        """Return x, y, and the buttons."""
        return Box(-1.0, 1.0, (2 + len(self.buttons),), np.float32)

    def events(self, action: Any, held: Held, screen_size: tuple[int, int]) -> list[Event]:
        """Move the pointer, press and release its buttons."""
        numbers = np.asarray(action, np.float64)
        if numbers.shape != (2 + len(self.buttons),) or not np.isfinite(numbers).all():
            raise ConfigError(f"action {action!r} is not {2 + len(self.buttons)} finite numbers")
        place = (np.clip(numbers[:2], -1, 1) + 1) / 2 * (np.array(screen_size) - 1)
        mask = sum(button for button, number in zip(self.buttons, numbers[2:], strict=True) if number > 0)
        pointer = PointerEvent(round(place[0]), round(place[1]), mask)
        return [] if pointer == held[1] else [pointer]


class KeysAndPointer:
    """Dict actions, `{"keys": ..., "pointer": ...}`: a map of keys and a map of the pointer, side by side."""

    def __init__(self, keys: ActionMap, pointer: ActionMap) -> None:
        """Join two maps."""
        self.keys, self.pointer = keys, pointer

    def space(self, width: int, height: int) -> Space[Any]:
        """Return both spaces."""
        return Dict(keys=self.keys.space(width, height), pointer=self.pointer.space(width, height))

    def events(self, action: Any, held: Held, screen_size: tuple[int, int]) -> list[Event]:
        """Move the pointer, then hold the keys."""
        try:
            pointer, keys = action["pointer"], action["keys"]
        except (TypeError, KeyError, IndexError):
            raise ConfigError(f"action {action!r} is not a dict of keys and pointer") from None
        return [*self.pointer.events(pointer, held, screen_size), *self.keys.events(keys, held, screen_size)]


class Events:
    """Raw actions: lists of events, as Universe's face takes them; batched, a tuple with one list per remote."""

    def __init__(
        self,
        keys: Sequence[str | int] = PRINTABLE + EVERYDAY,
        button_masks: Sequence[int] = tuple(range(256)),
    ) -> None:
        """Bound what is sampled and contained; see `EventSpace`. Any event can be sent."""
        self._keys, self._button_masks = tuple(keys), tuple(button_masks)

    def space(self, width: int, height: int) -> Space[Any]:
        """Return the space of events on this screen."""
        return EventSpace(width, height, self._keys, self._button_masks)

    def events(self, action: Any, held: Held, screen_size: tuple[int, int]) -> list[Event]:
        """Send `action` as it is."""
        return actions.parse(action, slot=0)


def action_map(argument: str | Sequence[Any] | ActionMap | None) -> ActionMap:
    """Return the map that an `actions=` argument names.

    Args:
        argument: None for arrow keys and space, a list of key sets, `"events"` for raw events, or a map.

    Raises:
        ConfigError: it is none of these, or names a key that there is not.
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


def choice(action: Any, count: int) -> int:
    """Return a Discrete action as a number within 0..`count` - 1.

    Raises:
        ConfigError: it is not.
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
    """Let go of what is not wanted, the last key first, then press what is, in its order."""
    released: list[Event] = [KeyEvent(key, False) for key in reversed(held[0]) if key not in keysyms]
    return released + [KeyEvent(key, True) for key in keysyms if key not in held[0]]
