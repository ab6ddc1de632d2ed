"""Reads a recording: its episodes, with their frames, actions and rewards."""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, Self

from rewarder.protocol.values import unpack
from universe_client.errors import ConfigError
from universe_client.recording.events import Event, EventReader
from universe_client.recording.recorder import EVENTS_FILE
from universe_client.recording.spans import Frame, Spans
from universe_client.recording.video import Pixels, count, frames, shape


@dataclass(slots=True)
class Episode:
    """An episode of one remote. Times are in nanoseconds since 1970.

    Attributes:
        remote: the index of the remote.
        episode_id: as the remote has numbered it; None for a remote without a rewarder.
        env_id: what was played; None if unknown.
        start: when its first step returned.
        end: when its last step returned; for an episode that did not end, when the last event was recorded.
        end_reason: as in info; None if the recording ends before the episode.
        score: the sum of its rewards.
        instruction: the task in words; None without one.
        frames: its pictures.
        actions: (time, events) of each action, also of people.
        viewers: the times of those actions that people sent through viewers of the remote.
        rewards: (time, reward).
        observations: (time, environment observation) of each step that had one.
        actors: (time, name) of who acted, from that time on.
        steps: (step, "action" or "reward", events or reward) in the order of the recording. A step is the number of the
            newest picture before it, from 0.
        skipped: pictures that are missing, because the encoder was too slow.
    """

    remote: int
    episode_id: str | None
    env_id: str | None
    start: int
    end: int
    end_reason: str | None = None
    score: float = 0.0
    instruction: str | None = None
    frames: list[Frame] = field(default_factory=list)
    actions: list[tuple[int, list[list[Any]]]] = field(default_factory=list)
    viewers: list[int] = field(default_factory=list)
    rewards: list[tuple[int, float]] = field(default_factory=list)
    observations: list[tuple[int, Any]] = field(default_factory=list)
    actors: list[tuple[int, str]] = field(default_factory=list)
    steps: list[tuple[int, str, Any]] = field(default_factory=list)
    skipped: int = 0

    def add(self, event: Event) -> None:
        """Add an event of the remote, in the order of the recording."""
        body = event.body
        self.end = max(self.end, event.time)
        match event.kind:
            case "frame" if "refresh" not in body:
                self.frames.append(Frame(event.time, body["video"], body["index"]))
            case "action" if body["events"]:
                # What was planned is recorded after it was played, and perhaps after a later action.
                insort(self.actions, (event.time, body["events"]), key=itemgetter(0))
                self._note("action", body["events"])
            case "reward":
                self.rewards.append((event.time, body["reward"] or 0.0))
                self.score += body["reward"] or 0.0
                self._note("reward", body["reward"] or 0.0)
            case "text":
                instruction = body["instruction"]
                self.instruction = instruction if isinstance(instruction, str) else self.instruction
            case "observation":
                self.observations.append((event.time, unpack(body["value"])))
            case "actor":
                self.actors.append((event.time, body["name"]))
            case "skipped":
                self.skipped += body["frames"]
            case "end":
                self.end_reason = body["end_reason"]

    def add_of_viewer(self, event: Event) -> None:
        """Add an action of a person that came through a viewer of the remote; events need not be in order."""
        insort(self.actions, (event.time, event.body["events"]), key=itemgetter(0))
        insort(self.viewers, event.time)

    def _note(self, kind: str, content: Any) -> None:
        self.steps.append((max(len(self.frames) - 1, 0), kind, content))


class Recording:
    """A recording that has been read.

    Attributes:
        directory: the folder.
        about: the body of its `begin` event.
        episodes: of all remotes, in the order of their starts.
        cut: whether the process that recorded was killed.
    """

    def __init__(self, directory: str | Path) -> None:
        """Read a recording's events; videos are read later.

        Raises:
            ConfigError: there is no recording in `directory`.
        """
        self.directory = Path(directory)
        path = self.directory / EVENTS_FILE
        if not path.is_file():
            raise ConfigError(f"{self.directory} is not a recording: it has no {EVENTS_FILE}")
        self.about: dict[str, Any] = {}
        self.episodes: list[Episode] = []
        self._playing: dict[int, Episode] = {}
        self._videos: dict[str, _Video] = {}
        self._shapes: dict[str, tuple[int, int]] = {}
        self._of_viewers: list[Event] = []
        spans = Spans()
        reader = EventReader(path)
        for event in reader:
            spans.take(event)
            self._take(event)
        self.cut = reader.cut
        for span in spans:
            self._show(*span)
        for event in self._of_viewers:
            self._assign(event)
        self.episodes.sort(key=lambda episode: (episode.start, episode.remote))

    def _take(self, event: Event) -> None:
        if event.remote is None:
            self.about = event.body if event.kind == "begin" else self.about
            return
        if event.kind == "action" and "by" in event.body:
            self._of_viewers.append(event)
            return
        episode = self._playing.get(event.remote)
        if event.kind == "state":
            same = episode is not None and episode.episode_id == event.body["episode_id"]
            if not event.body["running"]:
                self._playing.pop(event.remote, None)
            elif not same:
                self._begin(event, event.remote)
        elif episode is not None:
            episode.add(event)
            if event.kind == "end":
                del self._playing[event.remote]

    def _begin(self, event: Event, remote: int) -> None:
        body = event.body
        episode = Episode(remote, body["episode_id"], body["env_id"], event.time, event.time)
        self._playing[remote] = episode
        self.episodes.append(episode)

    def _show(self, remote: int, episode_id: str, begin: int, shown: list[Frame]) -> None:
        """Add frames to their episode. If the agent has not seen the episode, they are only in the video."""
        for episode in self.episodes:
            same = episode.remote == remote and episode.episode_id in (episode_id, None)
            if same and episode.end >= begin:
                episode.frames += shown
                if episode.end_reason is None and shown:
                    episode.end = max(episode.end, shown[-1].time)
                return

    def _assign(self, event: Event) -> None:
        """Add an action of a viewer to its episode, unless the agent has not seen that episode."""
        same = [
            episode
            for episode in self.episodes
            if episode.remote == event.remote and episode.episode_id == event.body["episode_id"]
        ]
        if same and event.body["events"]:
            # A remote that started again may have begun to count again.
            next((episode for episode in same if event.time <= episode.end), same[-1]).add_of_viewer(event)

    def pictures(self, episode: Episode) -> Iterator[tuple[Frame, Pixels]]:
        """Return the pictures of an episode, uint8 of shape (height, width, 3), RGB.

        To read the episodes of a remote in their order decodes each picture once. Where a process was killed, the last
        pictures may be missing.

        Raises:
            ConfigError: a video is missing, or is not a video.
        """
        for name, group in groupby(episode.frames, key=lambda frame: frame.video):
            wanted = {frame.number: frame for frame in group}
            for index, pixels in self._video(name, min(wanted)):
                if index in wanted:
                    yield wanted[index], pixels
                if index == max(wanted):
                    break

    def is_complete(self, episode: Episode) -> bool:
        """Return whether the videos have all pictures of an episode: the encoder of a running recording is behind."""
        last = {frame.video: frame.number for frame in episode.frames}
        return all(number < count(self._path(video)) for video, number in last.items())

    def shape(self, video: str) -> tuple[int, int]:
        """Return (height, width) of a video's pictures, in pixels.

        Raises:
            ConfigError: the video is missing, or is not a video.
        """
        if video not in self._shapes:
            path = self._path(video)
            try:
                self._shapes[video] = shape(path)
            except OSError as error:
                raise ConfigError(f"{path} cannot be read: {error.strerror or error}") from error
        return self._shapes[video]

    def _path(self, video: str) -> Path:
        return (
            self.directory / Path(video).name
        )  # events may come from anybody: no name leads out of the folder

    def _video(self, name: str, first: int) -> Iterator[tuple[int, Pixels]]:
        """Return the numbered pictures of a video from `first` or an earlier one on."""
        video = self._videos.get(name)
        if video is None or video.next > first:
            video = self._videos[name] = _Video(self._path(name))
        return video


class _Video:
    """The pictures of a video with their numbers; `next` is the number of the next one."""

    def __init__(self, path: Path) -> None:
        self._path, self._frames, self.next = path, frames(path), 0

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> tuple[int, Pixels]:
        try:
            _, pixels = next(self._frames)
        except OSError as error:
            raise ConfigError(f"{self._path} cannot be read: {error.strerror or error}") from error
        self.next += 1
        return self.next - 1, pixels
