"""What an act returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from universe_client.hands.pictures import Picture


class Region(NamedTuple):
    """A rectangle of a picture, in its pixels."""

    x: int
    y: int
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class Stillness:
    """Whether the screen has come to rest.

    Attributes:
        settled: whether nothing has changed for the quiet span, outside the regions that never rest.
        seconds: how long the call has waited.
        restless: the regions that never rest, such as a video or a spinner, in pixels of the newest whole picture.
    """

    settled: bool
    seconds: float
    restless: tuple[Region, ...] = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """What has come of some actions.

    Attributes:
        picture: the screen after them; None if none was wanted.
        changed: the rectangle that contains every changed pixel, in pixels of the picture; None if none changed.
        pointer: (x, y) of the mouse pointer in pixels of the picture.
        settled: whether the screen had come to rest, except for the regions `restless`.
        waited: seconds from the last action to the picture.
        restless: the regions that never rest, in pixels of the picture.
        reward: the sum of the rewards since the last outcome; 0.0 without a rewarder.
        episode_reward: the sum of all rewards of the episode.
        text: what the remote has told in words since the last outcome, such as the task; None if nothing.
        done: whether the episode has ended: `Computer.reset` begins the next.
        played: how many actions were played; fewer than given only if the episode ended.
    """

    picture: Picture | None
    changed: Region | None
    pointer: tuple[int, int]
    settled: bool
    waited: float
    restless: tuple[Region, ...]
    reward: float
    episode_reward: float
    text: str | None
    done: bool
    played: int
