"""Atari games in `GymEnv`: joystick actions with their names, and the console that wrappers for Atari use."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from universe_client.errors import ConfigError
from universe_client.spaces.action_maps import KeySets
from vnc.session import Frame

JOYSTICK = tuple(
    f"{place}{fire}"
    for fire in ("", "FIRE")
    for place in ("", "UP", "RIGHT", "LEFT", "DOWN", "UPRIGHT", "UPLEFT", "DOWNRIGHT", "DOWNLEFT")
)[1:]
"""The joystick actions of the Arcade Learning Environment, except NOOP."""
_KEYS = {"UP": "Up", "DOWN": "Down", "LEFT": "Left", "RIGHT": "Right", "FIRE": "space"}
_LUMA = np.array([0.2989, 0.5870, 0.1140])
"""The weights of red, green and blue in the grey screens of the Arcade Learning Environment."""


class Joystick(KeySets):
    """Discrete actions, each a position of the joystick with or without its button, sent as arrow keys and space.

    The names are those of the Arcade Learning Environment (Bellemare et al. 2013), such as "UPRIGHTFIRE".

    Attributes:
        meanings: the names of the actions, by number.
    """

    def __init__(self, actions: Sequence[str] = ("NOOP", *JOYSTICK)) -> None:
        """Choose the actions, by their names.

        Raises:
            ConfigError: a name is neither NOOP nor in `JOYSTICK`.
        """
        for action in actions:
            if action != "NOOP" and action not in JOYSTICK:
                raise ConfigError(f"{action!r} is neither NOOP nor one of {', '.join(JOYSTICK)}")
        super().__init__([[key for part, key in _KEYS.items() if part in action] for action in actions])
        self.meanings = tuple(actions)


class Console:
    """The methods of `ale`, the console of the Arcade Learning Environment, that common wrappers call."""

    def __init__(self, screen: Callable[[], Frame], lives: Callable[[], int]) -> None:
        """Read the screen, uint8 (height, width, 3), and the number of lives from two functions."""
        self._screen, self._lives = screen, lives

    def lives(self) -> int:
        """Return the number of lives that the remote sent last; 0 if the game has none."""
        return self._lives()

    def getScreenRGB(self, out: Frame | None = None) -> Frame:
        """Return the screen, uint8 (height, width, 3), RGB; with `out`, in that array."""
        return _into(out, self._screen())

    def getScreenGrayscale(self, out: Frame | None = None) -> Frame:
        """Return the brightness of the screen, uint8 (height, width); with `out`, in that array."""
        return _into(out, np.rint(self._screen() @ _LUMA).astype(np.uint8))


def _into(out: Frame | None, frame: Frame) -> Frame:
    if out is None:
        return frame.copy()
    np.copyto(out, frame)
    return out


def minimal_actions(game: str) -> list[str]:
    """Return the names of the joystick actions that have an effect in `game`, such as "pong"; NOOP is the first.

    Raises:
        ConfigError: the game does not exist, or ale-py is not installed.
    """
    ale_py = import_ale()
    games = ale_py.roms.get_all_rom_ids()
    if game not in games:
        raise ConfigError(f"unknown Atari game {game!r}: choose one of {', '.join(sorted(games))}")
    ale_py.ALEInterface.setLoggerMode(ale_py.LoggerMode.Error)
    console = ale_py.ALEInterface()
    console.loadROM(ale_py.roms.get_rom_path(game))
    return [action.name for action in console.getMinimalActionSet()]


def import_ale() -> Any:
    """Import ale-py and return it.

    Raises:
        ConfigError: ale-py is not installed.
    """
    try:
        return importlib.import_module("ale_py")
    except ImportError:
        raise ConfigError("Atari games need ale-py: run pip install '.[atari]' in a checkout") from None
