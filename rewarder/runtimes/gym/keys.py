"""Map the keyboard to actions of a Gymnasium environment.

Discrete actions use the environment's own mapping (`get_keys_to_action`, as Atari has), else the table below, else
digits (letters from the tenth action on) and, for up to four actions, the arrows. Without a key, the action is the
environment's no-op; an environment without one (CartPole) repeats the last action.

Continuous actions: left and right set the first axis to its bounds, down and up the second, a and d the third, s and w
the fourth. Without a key, an axis is 0, or its bound next to 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Box, Discrete
from numpy.typing import NDArray

from rewarder.sdk.keys import DOWN, LEFT, RETURN, RIGHT, SPACE, UP

Combinations = dict[frozenset[int], int]

_KNOWN: dict[str, tuple[dict[int, int], int | None]] = {
    "CartPole": ({LEFT: 0, RIGHT: 1}, None),
    "Acrobot": ({LEFT: 0, RIGHT: 2}, 1),
    "LunarLander": ({LEFT: 1, UP: 2, RIGHT: 3}, 0),
    "FrozenLake": ({LEFT: 0, DOWN: 1, RIGHT: 2, UP: 3}, None),
    "CliffWalking": ({UP: 0, RIGHT: 1, DOWN: 2, LEFT: 3}, None),
    "Taxi": ({DOWN: 0, UP: 1, RIGHT: 2, LEFT: 3, ord("p"): 4, ord("d"): 5}, None),
}
_ARROWS = {2: (LEFT, RIGHT), 3: (LEFT, DOWN, RIGHT), 4: (LEFT, DOWN, RIGHT, UP)}
_SYMBOLS = "0123456789abcdefghijklmnopqrstuvwxyz"
_AXES = ((LEFT, RIGHT), (DOWN, UP), (ord("a"), ord("d")), (ord("s"), ord("w")))
_NAMES = {
    "space": SPACE,
    "return": RETURN,
    "enter": RETURN,
    "left": LEFT,
    "right": RIGHT,
    "up": UP,
    "down": DOWN,
}
_PYGAME = {
    273: UP,
    274: DOWN,
    275: RIGHT,
    276: LEFT,  # pygame 1 keys, which classic control still uses
    1073741903: RIGHT,
    1073741904: LEFT,
    1073741905: DOWN,
    1073741906: UP,
    13: RETURN,
}
_WASD = {LEFT: ord("a"), RIGHT: ord("d"), UP: ord("w"), DOWN: ord("s")}


def key_map(env: gymnasium.Env[Any, Any]) -> KeyMap:
    """Return the keyboard mapping of `env`.

    Raises:
        ValueError: its action space has no mapping.
    """
    space = env.action_space
    if isinstance(space, Discrete):
        return _discrete(env, space)
    if isinstance(space, Box):
        return ContinuousKeys(space)
    raise ValueError(f"no keys for the action space {space}: only Discrete and Box have a keyboard mapping")


class DiscreteKeys:
    """Discrete actions: that of the largest combination of keys that are all down."""

    def __init__(self, combinations: Combinations, noop: int | None, first: int) -> None:
        self._combinations = sorted(combinations.items(), key=lambda entry: -len(entry[0]))
        self._noop = noop
        self._first = first
        self._last = first

    def reset(self) -> None:
        """Begin an episode: forget the last action."""
        self._last = self._first

    def action(self, held: frozenset[int]) -> int:
        """Return the action of the keys, else the no-op, else the last action."""
        for keys, action in self._combinations:
            if keys <= held:
                self._last = action
                return action
        return self._last if self._noop is None else self._noop


class ContinuousKeys:
    """Continuous actions: two keys for each of the first four axes."""

    def __init__(self, space: Box) -> None:
        low, high = space.low.ravel(), space.high.ravel()
        self._low = np.where(np.isfinite(low), low, -1.0)
        self._high = np.where(np.isfinite(high), high, 1.0)
        self._rest = np.clip(0.0, self._low, self._high)
        self._space = space

    def reset(self) -> None:
        """Do nothing: actions depend on the present keys only."""

    def action(self, held: frozenset[int]) -> NDArray[Any]:
        """Return each axis at the bound of its key, and at rest without a key or with both."""
        values = self._rest.copy()
        for axis, (back, forth) in enumerate(_AXES[: len(values)]):
            if (back in held) != (forth in held):
                values[axis] = self._low[axis] if back in held else self._high[axis]
        action: NDArray[Any] = values.reshape(self._space.shape).astype(self._space.dtype)
        return action


KeyMap = DiscreteKeys | ContinuousKeys
"""Maps the keys of a tick to an action."""


def _discrete(env: gymnasium.Env[Any, Any], space: Discrete) -> DiscreteKeys:
    count, start = int(space.n), int(space.start)
    own = getattr(env.unwrapped, "get_keys_to_action", None)
    if own is not None:
        return _own_keys(own(), start)
    known = _KNOWN.get(_short_name(env))
    if known is not None:
        keys, noop = known
        return DiscreteKeys({frozenset((key,)): action for key, action in keys.items()}, noop, start)
    if count > len(_SYMBOLS):
        raise ValueError(f"no keys for {count} actions: the keyboard mapping has {len(_SYMBOLS)}")
    combinations = {frozenset((ord(symbol),)): start + n for n, symbol in enumerate(_SYMBOLS[:count])}
    combinations |= {frozenset((key,)): start + n for n, key in enumerate(_ARROWS.get(count, ()))}
    return DiscreteKeys(combinations, None, start)


def _own_keys(mapping: Mapping[Iterable[str | int], int], first: int) -> DiscreteKeys:
    combinations = {frozenset(map(_keysym, keys)): int(action) for keys, action in mapping.items()}
    used = frozenset().union(*combinations)
    if not used & _WASD.keys():
        # The arrow keys work like w, a, s and d.
        arrows = {letter: arrow for arrow, letter in _WASD.items()}
        combinations |= {
            frozenset(arrows.get(key, key) for key in keys): action for keys, action in combinations.items()
        }
    return DiscreteKeys(combinations, combinations.pop(frozenset(), first), first)


def _keysym(key: str | int) -> int:
    if isinstance(key, int):
        return _PYGAME.get(key, key)
    return _NAMES.get(key.lower()) or ord(key)


def _short_name(env: gymnasium.Env[Any, Any]) -> str:
    return env.spec.name if env.spec is not None else ""
