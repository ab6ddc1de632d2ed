"""Episodes: their order, what has arrived of one, and what a step is told of it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

import msgspec

RUNNING = "running"
"""The one `env_state` in which an agent may act."""

HELD_BYTES = 1 << 20
"""Text, and likewise info, one episode may gather between two pops, in wire bytes; the rest is dropped."""
SMALL_INFO = 1024
"""An info of no more wire bytes, with no new key, replaces what is there and is free of charge."""

_ID = re.compile(r"[0-9]{1,18}(?:\.[0-9]{1,18}){0,7}")


class EpisodeId(msgspec.Struct, frozen=True, order=True, dict=True):
    """An episode's place in its remote's order: numbers compared part by part, `"1.2"` before `"1.10"`."""

    parts: tuple[int, ...]

    @classmethod
    def parse(cls, value: int | str) -> EpisodeId:
        """Read an id as it comes over the wire.

        Raises:
            ValueError: not a non-negative number or dotted numbers.
        """
        return _parse_id(value if isinstance(value, str) else str(value))

    @cached_property
    def text(self) -> str:
        """The wire form: `7`, `1.2`."""
        return ".".join(map(str, self.parts))

    def __str__(self) -> str:
        return self.text


@lru_cache(maxsize=256)
def _parse_id(text: str) -> EpisodeId:
    if not _ID.fullmatch(text):
        raise ValueError(f"episode id {text[:32]!r} is not a number or dotted numbers")
    return EpisodeId(tuple(map(int, text.split("."))))


class Popped(msgspec.Struct, frozen=True):
    """What one pop delivers. Of the ended episodes when there are some, of the current one otherwise."""

    reward: float = 0.0
    count: int = 0
    """Reward messages in `reward`."""
    terminated: bool = False
    truncated: bool = False
    end_reason: str | None = None
    episode_id: EpisodeId | None = None
    """The current episode after this pop; None between episodes and while a reset is awaited."""
    env_id: str | None = None
    env_state: str | None = None
    fps: float | None = None
    complete_episode_id: EpisodeId | None = None
    """The episode that ended, on the one pop that says so; the first of them when several did."""
    complete_env_state: str | None = None
    skipped_episodes: int = 0
    """Further episodes that came and went since the last pop; their rewards are in `reward`."""
    text: list[Any] = msgspec.field(default_factory=list)
    env_observation: Any | None = None
    info: dict[str, Any] = msgspec.field(default_factory=dict)
    stale: int = 0
    duplicate: int = 0
    dropped: int = 0
    """Texts and infos left out since the last pop because nobody popped for too long."""
    running: EpisodeId | None = None
    """The episode the agent is in now, if it is running."""
    sent_at: float | None = None
    received_at: float | None = None


@dataclass(slots=True)
class Episode:
    """What has arrived of one episode since the last pop."""

    id: EpisodeId
    env_state: str | None = None
    started: bool = False
    """It ran, or carried a reward: its end is worth a done."""
    seen: bool = False
    """A pop has shown it to the agent."""
    reward: float = 0.0
    count: int = 0
    text: list[Any] = field(default_factory=list)
    text_bytes: int = 0
    info: dict[str, Any] = field(default_factory=dict)
    info_bytes: int = 0
    env_observation: Any | None = None
    sent_at: float | None = None
    received_at: float | None = None
    terminated: bool = False
    end_reason: str | None = None
    skipped: int = 0

    def clear(self) -> None:
        """Forget what has been delivered, keep what the episode is."""
        self.reward, self.count = 0.0, 0
        self.sent_at = self.received_at = None
        self.strip()

    def strip(self) -> None:
        """Forget all but the return."""
        self.text, self.text_bytes = [], 0
        self.info, self.info_bytes = {}, 0
        self.env_observation = None

    def absorb(self, other: Episode) -> None:
        """Take over the return of an episode that is not kept apart any longer."""
        self.reward += other.reward
        self.count += other.count
        self.skipped += other.skipped + 1

    def complete(self, popped: Popped) -> Popped:
        """Add that this episode has ended, and how."""
        return msgspec.structs.replace(
            popped,
            terminated=self.terminated,
            truncated=not self.terminated,
            end_reason=self.end_reason,
            complete_episode_id=self.id,
            complete_env_state=self.env_state,
            skipped_episodes=self.skipped,
        )

    def add_text(self, text: Any, size: int) -> bool:
        """Append `size` wire bytes of text, if they are within bounds; return whether they were."""
        if self.text_bytes + size > HELD_BYTES:
            return False
        self.text_bytes += size
        self.text.append(text)
        return True

    def add_info(self, info: dict[str, Any], size: int) -> bool:
        """Merge the info of a message of `size` wire bytes, if it is within bounds; return whether it was."""
        if size > SMALL_INFO or not info.keys() <= self.info.keys():
            if self.info_bytes + size > HELD_BYTES:
                return False
            self.info_bytes += size
        self.info.update(info)
        return True
