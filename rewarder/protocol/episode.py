"""Episode ids, the messages of one episode between two pops, and the result of a pop."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

import msgspec

RUNNING = "running"
"""The one `env_state` in which an agent may act."""

HELD_BYTES = 1 << 20
"""Bytes of text, and likewise of info, that an episode stores between two pops; more is dropped."""
SMALL_INFO = 1024
"""Bytes up to which an info without new keys does not count: it only replaces values."""

_ID = re.compile(r"[0-9]{1,18}(?:\.[0-9]{1,18}){0,7}")


class EpisodeId(msgspec.Struct, frozen=True, order=True, dict=True):
    """The id of an episode. Ids of one remote are ordered part by part: `"1.2"` precedes `"1.10"`."""

    parts: tuple[int, ...]

    @classmethod
    def parse(cls, value: int | str) -> EpisodeId:
        """Parse an id of a message.

        Raises:
            ValueError: it is neither a non-negative number nor dotted numbers.
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
    """The result of a pop: about the episodes that have ended, if any, otherwise about the current one."""

    reward: float = 0.0
    count: int = 0
    """Reward messages that are summed in `reward`."""
    terminated: bool = False
    truncated: bool = False
    end_reason: str | None = None
    episode_id: EpisodeId | None = None
    """The current episode after this pop; None between episodes and while a reset is awaited."""
    env_id: str | None = None
    env_state: str | None = None
    time_scale: float = 1.0
    complete_episode_id: EpisodeId | None = None
    """The episode that ended; the first one, if several did."""
    complete_env_state: str | None = None
    skipped_episodes: int = 0
    """Further episodes that began and ended since the last pop; `reward` includes theirs."""
    text: list[Any] = msgspec.field(default_factory=list)
    env_observation: Any | None = None
    info: dict[str, Any] = msgspec.field(default_factory=dict)
    stale: int = 0
    duplicate: int = 0
    dropped: int = 0
    """Texts and infos that were dropped since the last pop, because of `HELD_BYTES`."""
    running: EpisodeId | None = None
    """The current episode, if it runs."""
    sent_at: float | None = None
    received_at: float | None = None


@dataclass(slots=True)
class Episode:
    """The messages of one episode since the last pop."""

    id: EpisodeId
    env_state: str | None = None
    started: bool = False
    """Whether it ran or had a reward, so that its end counts as a done."""
    seen: bool = False
    """Whether a pop has returned it."""
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
        """Forget rewards and details, which a pop has returned."""
        self.reward, self.count = 0.0, 0
        self.sent_at = self.received_at = None
        self.strip()

    def strip(self) -> None:
        """Forget everything but the rewards."""
        self.text, self.text_bytes = [], 0
        self.info, self.info_bytes = {}, 0
        self.env_observation = None

    def absorb(self, other: Episode) -> None:
        """Add the rewards of another episode, which is not kept separately."""
        self.reward += other.reward
        self.count += other.count
        self.skipped += other.skipped + 1

    def complete(self, popped: Popped) -> Popped:
        """Return `popped` with the end of this episode."""
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
        """Append a text of `size` bytes; return False, without effect, beyond `HELD_BYTES`."""
        if self.text_bytes + size > HELD_BYTES:
            return False
        self.text_bytes += size
        self.text.append(text)
        return True

    def add_info(self, info: dict[str, Any], size: int) -> bool:
        """Merge the info of a message of `size` bytes; return False, without effect, beyond `HELD_BYTES`."""
        if size > SMALL_INFO or not info.keys() <= self.info.keys():
            if self.info_bytes + size > HELD_BYTES:
                return False
            self.info_bytes += size
        self.info.update(info)
        return True
