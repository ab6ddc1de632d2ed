"""Compare what the agent received from each remote with what the remotes recorded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import numpy as np

from tests.chaos.ledger import Life, Verdict, judged, total

_EXAMPLES = 20


class Breach(StrEnum):
    """Violations other than wrong sums of rewards."""

    DOUBLE_END = "ended twice"
    NO_END = "never ended"
    OLD_FRAME = "older frame"
    MIXED_FRAME = "mixed frame"


@dataclass
class Books:
    """The totals of a run."""

    breaches: Counter[str] = field(default_factory=Counter)
    examples: list[str] = field(default_factory=list)
    ends: Counter[str] = field(default_factory=Counter)
    rewards: int = 0
    frames: int = 0

    def breach(self, kind: str, what: str) -> None:
        """Count a violation, and keep a description of the first few."""
        self.breaches[kind] += 1
        if len(self.examples) < _EXAMPLES:
            self.examples.append(f"{kind}: {what}")


@dataclass
class Account:
    """The state of one slot: its current episode, and the newest one that has ended."""

    slot: int
    books: Books
    reward: float = 0.0
    life: Life | None = None  # the episode of the rewards and frames since the last end
    watched: tuple[Life, int] | None = None  # the episode of the newest observation, until it ends
    ended: tuple[Life, int] | None = None

    def add(
        self, life: Life | None, observation: Any, reward: float, done: bool, info: dict[str, Any]
    ) -> None:
        """Add the results of a step; `life` is the process that plays the remote now."""
        self.reward += reward
        self.books.rewards += info["stats.reward.count"]
        if "remote.life" in info and life is not None:
            self.life = Life(life.directory, info["remote.life"])
        if done:
            self._end(life, info)
        if observation is not None and life is not None:
            self._see(life, observation["vision"], int(info["env_status.episode_id"]))

    def _see(self, life: Life, vision: Any, episode: int) -> None:
        self.books.frames += 1
        if self.watched is not None and self.watched != (life, episode):
            self.books.breach(
                Breach.NO_END, f"{self._name(*self.watched)} before {self._name(life, episode)}"
            )
        self.watched = life, episode
        self.life = life
        if not (vision == vision[0, 0]).all():
            colours = np.unique(vision.reshape(-1, 3), axis=0).tolist()
            self.books.breach(Breach.MIXED_FRAME, f"{self._name(life, episode)} shows {colours}")
            return
        colour = int.from_bytes(vision[0, 0].tobytes(), "big")
        if life.shows_older(colour, episode):
            shown = f"{colour:06x} and not {life.colour(episode):06x}"
            self.books.breach(Breach.OLD_FRAME, f"{self._name(life, episode)} shows {shown}")

    def _end(self, now: Life | None, info: dict[str, Any]) -> None:
        first, skipped = int(info["env_status.complete.episode_id"]), info["env_status.skipped_episodes"]
        life = self.life or now
        reward, self.reward, self.life, self.watched = self.reward, 0.0, None, None
        self.books.ends[info["end_reason"]] += 1 + skipped
        if life is None:
            return
        name = self._name(life, first)
        if self.ended is not None and self.ended[0] == life and first <= self.ended[1]:
            self.books.breach(Breach.DOUBLE_END, f"{name} with {reward:.0f}, {info['end_reason']}")
            return
        self.ended = life, first + skipped
        for episode, sum_, whole in _apart(life, first, skipped, reward, info["terminated"]):
            verdict = judged(sum_, life.written(episode), whole=whole)
            if verdict is not None:
                self._complain(verdict, life, episode, sum_)
            life.forget(episode)

    def _complain(self, verdict: Verdict, life: Life, episode: int, sum_: float) -> None:
        written = life.written(episode)
        self.books.breach(
            verdict, f"{self._name(life, episode)} has {_base4(sum_)}, written were {_base4(total(written))}"
        )

    def _name(self, life: Life, episode: int) -> str:
        return f"remote {self.slot}, process {life.pid}, episode {episode}"


def _apart(
    life: Life, first: int, skipped: int, reward: float, terminated: bool
) -> Iterator[tuple[int, float, bool]]:
    """Split the sum of episodes that ended between two steps; all but the last are complete."""
    for episode in range(first, first + skipped):
        whole = total(life.written(episode))
        yield episode, whole, True
        reward -= whole
    yield first + skipped, reward, terminated and not skipped


def _base4(number: float) -> str:
    """Return the base-4 digits of a sum, the first reward's digit first."""
    digits, rest = "", int(number)
    while rest > 0:
        rest, digit = divmod(rest, 4)
        digits += str(digit)
    return digits or f"{number:g}"
