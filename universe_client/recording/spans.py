"""Assigns the frames of a recording to episodes: frames are written as they arrive, before their episodes are known."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from universe_client.recording.events import Event


class Frame(NamedTuple):
    """A picture of a video."""

    time: int
    """When its pixels arrived, in nanoseconds since 1970."""
    video: str
    number: int


@dataclass(slots=True)
class _Span:
    """A time in which the frames of a remote showed one episode."""

    remote: int
    episode_id: str
    begin: int
    refresh: list[int]
    end: int | None = None


@dataclass(slots=True)
class Spans:
    """Collects `playing` and `frame` events in real time."""

    _spans: dict[int, list[_Span]] = field(default_factory=dict)
    _frames: dict[int, list[tuple[Frame, list[int]]]] = field(default_factory=dict)

    def take(self, event: Event) -> None:
        """Take an event of the recording, in any order."""
        body = event.body
        if event.remote is None:
            return
        if event.kind == "frame" and "refresh" in body:
            frame = Frame(event.time, body["video"], body["index"])
            self._frames.setdefault(event.remote, []).append((frame, body["refresh"]))
        elif event.kind == "playing":
            spans = self._spans.setdefault(event.remote, [])
            if body["episode_id"] is not None:
                spans.append(_Span(event.remote, body["episode_id"], event.time, body["refresh"]))
            elif spans:
                spans[-1].end = event.time

    def __iter__(self) -> Iterator[tuple[int, str, int, list[Frame]]]:
        """Return the remote, the id of the episode, when the agent knew of it, and its frames, span by span."""
        for remote, spans in self._spans.items():
            frames = self._frames.get(remote, [])
            first = 0
            for span in spans:
                # Both are in the order of their times.
                while first < len(frames) and frames[first][1] < span.refresh:
                    first += 1
                last = first
                while last < len(frames) and (span.end is None or frames[last][0].time <= span.end):
                    last += 1
                yield remote, span.episode_id, span.begin, [frame for frame, _ in frames[first:last]]
                first = last
