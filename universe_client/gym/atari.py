"""Atari games on the single face: joystick actions by their names, and what wrappers ask of the console."""

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
"""What can be done with a joystick, by the names of the Arcade Learning Environment; beside these there is NOOP."""
_KEYS = {"UP": "Up", "DOWN": "Down", "LEFT": "Left", "RIGHT": "Right", "FIRE": "space"}
_LUMA = np.array([0.2989, 0.5870, 0.1140])
"""Of the Arcade Learning Environment's grey screens."""


class Joystick(KeySets):
    """Discrete actions; each is a place of the joystick and its button, held by arrows and space.

    Attributes:
        meanings: the names of the actions.
    """

    def __init__(self, actions: Sequence[str] = ("NOOP", *JOYSTICK)) -> None:
        """Name the actions.

        Raises:
            ConfigError: there is no such action.
        """
        for action in actions:
            if action != "NOOP" and action not in JOYSTICK:
                raise ConfigError(f"{action!r} is neither NOOP nor one of {', '.join(JOYSTICK)}")
        super().__init__([[key for word, key in _KEYS.items() if word in action] for action in actions])
        self.meanings = tuple(actions)


class Console:
    """What `ale` of the Arcade Learning Environment's own environments is asked by usual wrappers."""

    def __init__(self, screen: Callable[[], Frame], lives: Callable[[], int]) -> None:
        """Show what `screen` returns, (height, width, 3) uint8, and the number that `lives` returns."""
        self._screen, self._lives = screen, lives

    def lives(self) -> int:
        """Return how many lives are left, as the remote told last; 0 where a game has none."""
        return self._lives()

    def getScreenRGB(self, out: Frame | None = None) -> Frame:
        """Return the screen, (height, width, 3) uint8; copy it into `out`, if given."""
        return _into(out, self._screen())

    def getScreenGrayscale(self, out: Frame | None = None) -> Frame:
        """Return the screen's brightness, (height, width) uint8; copy it into `out`, if given."""
        return _into(out, np.rint(self._screen() @ _LUMA).astype(np.uint8))


def _into(out: Frame | None, frame: Frame) -> Frame:
    if out is None:
        return frame.copy()
    np.copyto(out, frame)
    return out


def minimal_actions(game: str) -> list[str]:
    """Return the names of the joystick actions that `game` knows, NOOP first.

    Raises:
        ConfigError: there is no such game, or ale-py is not installed.
    """
    ale_py = import_ale()
    games = ale_py.roms.get_all_rom_ids()
    if game not in games:
        raise ConfigError(f"there is no Atari game {game!r}; there are {', '.join(sorted(games))}")
    ale_py.ALEInterface.setLoggerMode(ale_py.LoggerMode.Error)
    console = ale_py.ALEInterface()
    console.loadROM(ale_py.roms.get_rom_path(game))
    return [action.name for action in console.getMinimalActionSet()]


def import_ale() -> Any:
    """Return the module ale_py.

    Raises:
        ConfigError: it is not installed.
    """
    try:
        return importlib.import_module("ale_py")
    except ImportError:
        raise ConfigError("Atari games need ale-py: pip install '.[atari]', in a checkout") from None
