"""What the remotes write down, and what must have arrived of it.

Reward number k of an episode is worth 4 ** k, so that the digits of an episode's sum, in base 4, say how often each of
its rewards was counted: 1 once, 0 never, 2 twice. A remote writes every reward down before it sends it, one byte in a
file for each episode.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

ENV_ID = "chaos.Numbers-v0"
WIDTH, HEIGHT = 24, 16
TICKS, REWARDS = 20.0, 10.0
"""Per second."""
_SHORTEST, _LONGEST = 8, 24  # rewards of an episode; 4 ** 24 is exact in a double
_PART = 1 << 12  # of a colour: one half is the life, the other the episode


class Verdict(StrEnum):
    """What is wrong with the sum of an episode."""

    LOST = "lost"
    DOUBLED = "doubled"
    WRONG = "wrong"


def length(episode: int) -> int:
    """How many rewards an episode has."""
    return _SHORTEST + 7 * episode % (_LONGEST - _SHORTEST + 1)


def value(number: int) -> float:
    """What a reward is worth."""
    return 4.0**number


def total(rewards: int) -> float:
    """The sum of the first rewards of an episode."""
    return float((4**rewards - 1) // 3)


@dataclass(frozen=True)
class Life:
    """One process that plays a remote, by its id, and the directory in which it writes."""

    directory: Path
    process: int

    def write(self, episode: int) -> None:
        """Write one reward of `episode` down."""
        file = os.open(self._path(episode), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        os.write(file, b"+")
        os.close(file)

    def written(self, episode: int) -> int:
        """How many rewards of `episode` were written down so far."""
        path = self._path(episode)
        return path.stat().st_size if path.exists() else 0

    def forget(self, episode: int) -> None:
        """The episode has been looked at."""
        self._path(episode).unlink(missing_ok=True)

    def colour(self, episode: int) -> int:
        """What the screen shows during an episode, 0xRRGGBB."""
        return self.process % _PART * _PART + episode % _PART

    def shows_older(self, colour: int, episode: int) -> bool:
        """Whether a screen of this colour is of another life, or of an episode before `episode`."""
        life, shown = divmod(colour, _PART)
        return life != self.process % _PART or (shown - episode) % _PART >= _PART // 2

    def _path(self, episode: int) -> Path:
        return self.directory / f"{self.process}-{episode}"


def judged(arrived: float, written: int, *, whole: bool) -> Verdict | None:
    """Compare the sum of one episode with what was written; a `whole` one must have all, others a beginning."""
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
