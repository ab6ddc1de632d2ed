"""The files in which remotes record their rewards, and the comparison with what arrived.

Reward number k of an episode is 4 ** k. The base-4 digits of an episode's sum therefore show how often each reward was
counted: 1 is once, 0 never, 2 twice. Before a remote sends a reward, it appends one byte to a file of that episode.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from tests.support.system.processes import start_ticks

ENV_ID = "chaos.Numbers-v0"
WIDTH, HEIGHT = 24, 16
TICKS, REWARDS = 20.0, 10.0
"""Rewards per second."""
_SHORTEST, _LONGEST = 8, 24  # rewards of an episode; 4 ** 24 is exact in a double
_PID_BITS = 22  # PID_MAX_LIMIT of Linux
_PART = 1 << 12  # of a colour: one half is for the life, the other for the episode


class Verdict(StrEnum):
    """The result of checking the sum of an episode."""

    LOST = "lost"
    DOUBLED = "doubled"
    WRONG = "wrong"


def length(episode: int) -> int:
    """Return the number of rewards of an episode."""
    return _SHORTEST + 7 * episode % (_LONGEST - _SHORTEST + 1)


def value(number: int) -> float:
    """Return the value of a reward."""
    return 4.0**number


def total(rewards: int) -> float:
    """Return the sum of the first rewards of an episode."""
    return float((4**rewards - 1) // 3)


@dataclass(frozen=True)
class Life:
    """One process that plays a remote.

    Attributes:
        directory: of its files.
        number: of the process, which no later process has although process ids are used again.
    """

    directory: Path
    number: int

    @classmethod
    def of(cls, directory: Path, pid: int) -> Life:
        """Return the life of a running process."""
        return cls(directory, start_ticks(pid) << _PID_BITS | pid)

    @property
    def pid(self) -> int:
        """The id of the process."""
        return self.number % (1 << _PID_BITS)

    def write(self, episode: int) -> None:
        """Record one reward of `episode`."""
        file = os.open(self._path(episode), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        os.write(file, b"+")
        os.close(file)

    def written(self, episode: int) -> int:
        """Return the number of recorded rewards of `episode`."""
        path = self._path(episode)
        return path.stat().st_size if path.exists() else 0

    def forget(self, episode: int) -> None:
        """Remove the file of a checked episode."""
        self._path(episode).unlink(missing_ok=True)

    def colour(self, episode: int) -> int:
        """Return the colour of the screen during an episode, 0xRRGGBB."""
        return self.number % _PART * _PART + episode % _PART

    def shows_older(self, colour: int, episode: int) -> bool:
        """Return whether this colour belongs to another life, or to an episode before `episode`."""
        life, shown = divmod(colour, _PART)
        return life != self.number % _PART or (shown - episode) % _PART >= _PART // 2

    def _path(self, episode: int) -> Path:
        return self.directory / f"{self.number}-{episode}"


def judged(arrived: float, written: int, *, whole: bool) -> Verdict | None:
    """Compare the sum of an episode with its file. A `whole` episode must have all rewards, others the first ones."""
    number = int(arrived)
    if number != arrived or number < 0:
        return Verdict.WRONG
    digits = []
    while number:
        number, digit = divmod(number, 4)
        digits.append(digit)
    if any(digit > 1 for digit in digits):
        return Verdict.DOUBLED
    if len(digits) > written:
        return Verdict.WRONG
    return Verdict.LOST if 0 in digits or (whole and len(digits) < written) else None
