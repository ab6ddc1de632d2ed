"""Compares two recordings, episode by episode."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest

import numpy as np

from universe_client.recording.reading import Episode, Recording
from universe_client.recording.video import Pixels


@dataclass(frozen=True, slots=True)
class Difference:
    """The first step of an episode at which two recordings differ.

    Attributes:
        what: "action", "reward", "end", "picture" or "episode".
        step: the number of the newest picture before it, from 0.
        first, second: what each of them has, in words.
    """

    what: str
    step: int
    first: str
    second: str


@dataclass(frozen=True, slots=True)
class Compared:
    """An episode of two recordings.

    Attributes:
        remote: the index of the remote.
        number: of the episode of that remote, from 0.
        env_id: what was played; None if unknown.
        steps: pictures of the first recording's episode.
        difference: None if the two are equal.
    """

    remote: int
    number: int
    env_id: str | None
    steps: int
    difference: Difference | None


def compare(first: Recording, second: Recording) -> Iterator[Compared]:
    """Compare what both recordings have of each remote: the first episodes with each other, and so on.

    A step is a picture with the actions and the rewards until the next one. Times are not compared. In lock-step the
    same seed and actions give equal recordings. In real time two runs get other pictures in each step, and differ.
    Pictures are compared as the videos have them, after their losses.

    Raises:
        ConfigError: a video is missing, or is not a video.
    """
    ours, theirs = _by_remote(first), _by_remote(second)
    for remote in sorted({*ours, *theirs}):
        for number, pair in enumerate(zip_longest(ours[remote], theirs[remote])):
            one = pair[0] or pair[1]
            yield Compared(
                remote, number, one.env_id, len(one.frames), _difference(first, second, pair[0], pair[1])
            )


def _by_remote(recording: Recording) -> defaultdict[int, list[Episode]]:
    episodes = defaultdict(list)
    for episode in recording.episodes:
        episodes[episode.remote].append(episode)
    return episodes


def _difference(
    first: Recording, second: Recording, ours: Episode | None, theirs: Episode | None
) -> Difference | None:
    if ours is None or theirs is None:
        return Difference(
            "episode", 0, *("missing" if each is None else "present" for each in (ours, theirs))
        )
    if ours.env_id != theirs.env_id:
        return Difference("episode", 0, str(ours.env_id), str(theirs.env_id))
    found = [*(_first(what, ours, theirs) for what in ("reward", "action")), _ends(ours, theirs)]
    # Pictures are decoded only as far as nothing else differs.
    until = min((each.step for each in found if each), default=max(len(ours.frames), len(theirs.frames)))
    found.insert(0, _pictures(first.pictures(ours), second.pictures(theirs), until))
    return min((each for each in found if each), key=lambda each: each.step, default=None)


def _first(what: str, ours: Episode, theirs: Episode) -> Difference | None:
    """Return the first step that has other rewards, or other actions."""
    entries = ([(step, its) for step, kind, its in each.steps if kind == what] for each in (ours, theirs))
    for one, other in zip_longest(*entries):
        if one == other:
            continue
        step = min(each[0] for each in (one, other) if each)
        words = (str(each[1]) if each and each[0] == step else "none" for each in (one, other))
        return Difference(what, step, *words)
    return None


def _ends(ours: Episode, theirs: Episode) -> Difference | None:
    first, second = ((each.end_reason or "the recording", len(each.frames)) for each in (ours, theirs))
    if first == second:
        return None
    step = max(min(first[1], second[1]) - 1, 0)
    return Difference("end", step, *(f"{reason} after {count} pictures" for reason, count in (first, second)))


def _pictures(
    ours: Iterator[tuple[object, Pixels]], theirs: Iterator[tuple[object, Pixels]], until: int
) -> Difference | None:
    """Return the first of `until + 1` pictures that differ; a missing one belongs to the end."""
    for step, ((_, one), (_, other)) in zip(range(until + 1), zip(ours, theirs, strict=False), strict=False):
        if one.shape != other.shape:
            return Difference("picture", step, *(f"{each.shape[1]}x{each.shape[0]}" for each in (one, other)))
        if not np.array_equal(one, other):
            rows, columns = np.nonzero((one != other).any(axis=2))
            left, top, right, bottom = columns.min(), rows.min(), columns.max(), rows.max()
            place = f"{right - left + 1}x{bottom - top + 1} at ({left}, {top})"
            means = (each[top : bottom + 1, left : right + 1].mean() for each in (one, other))
            return Difference("picture", step, *(f"mean {mean:.1f} in {place}" for mean in means))
    return None
