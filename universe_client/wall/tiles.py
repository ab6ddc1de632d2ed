"""What the page shows of each remote. The agent's thread writes it, the page's thread reads it."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from universe_client.spaces.key_names import key_name
from universe_client.wall.person import Person
from vnc.events import Event, KeyEvent
from vnc.session import Frame

RETURNS = 200
"""Episodes in the curve of returns."""
REACTIONS = 600
"""Reaction times in the histogram."""
_BOUNDS = (2, 4, 6, 8, 10, 12, 16, 20, 30, 50, 100)
"""Upper bounds in milliseconds of the histogram's bars; one more bar has what is above."""


@dataclass(slots=True)
class Tile:
    """One remote, as its agent knows it.

    Attributes:
        vision: the newest frame; None without an observation.
        number: grows with each frame.
        score: the sum of rewards of the running episode.
        returns: of the last episodes.
        episodes: how many have ended.
        held: the keys that are down, in the order in which they were pressed: keysym to name.
        pointer: (x, y, button_mask) as it was sent last; None before.
        began: when the episode began, in seconds of the monotonic clock; None between episodes.
        person: who may act in place of the agent.
    """

    vision: Frame | None = None
    number: int = 0
    reason: str | None = "connecting"
    env_id: str | None = None
    episode_id: str | None = None
    instruction: str | None = None
    error: str | None = None
    score: float = 0.0
    returns: deque[float] = field(default_factory=lambda: deque(maxlen=RETURNS))
    episodes: int = 0
    reactions: deque[float] = field(default_factory=lambda: deque(maxlen=REACTIONS))
    held: dict[int, str] = field(default_factory=dict)
    pointer: tuple[int, int, int] | None = None
    began: float | None = None
    person: Person = field(default_factory=Person)

    def send(self, events: Sequence[Event]) -> None:
        """Note what is sent to the remote."""
        for event in events:
            if not isinstance(event, KeyEvent):
                self.pointer = (event.x, event.y, event.button_mask)
            elif event.down:
                self.held[event.keysym] = key_name(event.keysym)
            else:
                self.held.pop(event.keysym, None)

    def receive(
        self, observation: Mapping[str, Any] | None, reward: float | None, info: Mapping[str, Any]
    ) -> None:
        """Note what a step has returned of the remote."""
        for _, _, events in info["timed.played"] or ():
            self.send(events)
        self.reason, self.env_id = info["env_status.reason"], info["env_status.env_id"]
        self.episode_id = info["env_status.episode_id"]
        self.error = str(info["error"]) if info["error"] is not None else self.error
        self.score += reward or 0.0
        if info["reaction_time"] is not None:
            self.reactions.append(info["reaction_time"] * 1000)
        if info["terminated"] or info["truncated"]:
            self.returns.append(self.score)
            self.episodes += 1 + info["env_status.skipped_episodes"]
            self.score = 0.0
            self.held.clear()
        if observation is None:
            self.vision = self.began = None
            return
        if self.began is None or info["terminated"] or info["truncated"]:
            self.began = time.monotonic()
        self.error = None
        self.instruction = _words(observation["instruction"])
        if observation["vision"] is not self.vision:
            self.vision = observation["vision"]
            self.number += 1

    def summary(self) -> dict[str, Any]:
        """Return what the page shows beside the picture, as JSON values."""
        height, width = (0, 0) if self.vision is None else self.vision.shape[:2]
        return {
            "env": self.env_id,
            "episode": self.episode_id,
            "episodes": self.episodes,
            "reason": self.reason,
            "error": self.error,
            "task": self.instruction,
            "score": round(self.score, 3),
            "returns": [round(each, 3) for each in self.returns.copy()],
            "reaction": _histogram(self.reactions.copy()),
            "held": list(self.held.copy().values()),
            "pointer": self.pointer,
            "size": [width, height],
            "frames": self.number,
            "seconds": None if self.began is None else round(time.monotonic() - self.began, 1),
            "person": self.person.acts,
        }


def _words(instruction: object) -> str | None:
    return instruction if isinstance(instruction, str) else None


def _histogram(milliseconds: Sequence[float]) -> dict[str, Any]:
    ordered = sorted(milliseconds)
    bars = [0] * (len(_BOUNDS) + 1)
    for value in ordered:
        bars[next((bar for bar, bound in enumerate(_BOUNDS) if value < bound), len(_BOUNDS))] += 1
    median = ordered[len(ordered) // 2] if ordered else None
    return {"median": median and round(median, 2), "bars": bars, "bounds": _BOUNDS}
