"""Records what an agent gets from its remotes, and what it sends to them."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from rewarder.protocol.values import pack
from universe_client.core.vector import RemoteVector
from universe_client.errors import ConfigError
from universe_client.recording.events import Event, EventWriter, as_json
from universe_client.recording.frames import FrameRecorder
from universe_client.recording.video import VideoWriter
from vnc.events import Event as InputEvent

EVENTS_FILE = "events.mcap"
_LAG_INTERVAL = 1_000_000_000
_DIAGNOSTICS = "stats.gauges.diagnostics."
_LAGS = {
    "reaction_time": "reaction_time",
    **{
        name: _DIAGNOSTICS + name
        for name in ("rtt", "clock_skew", "lag.observation", "lag.action", "lag.reward")
    },
}

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class _Track:
    """What is known of one remote."""

    frames: FrameRecorder | None = None
    video: VideoWriter | None = None
    videos: int = 0
    state: tuple[object, ...] = ()
    instruction: str | None = None
    total: float = 0.0
    skew: int = 0
    lag_time: int = 0


class Recorder:
    """Writes one run to a folder: `events.mcap`, and a video per remote and size of its screen.

    All methods return at once: threads of the recorder write and encode. Only in lock-step, which has no deadlines, do
    they wait for an encoder that is too slow. A failure, such as a full disk, is one warning; the recording
    ends there, and further calls have no effect.

    Attributes:
        directory: the folder.
        failure: the error that has ended the recording; None while it goes on.
    """

    def __init__(
        self,
        directory: str | Path,
        n: int,
        *,
        video: bool = True,
        lockstep: bool = False,
        about: Mapping[str, object] | None = None,
    ) -> None:
        """Begin a recording.

        Args:
            directory: a new or empty folder; it is created, with its parents.
            n: the number of remotes.
            video: whether to record pixels.
            lockstep: whether every step has a picture of its own; otherwise call `watch`.
            about: JSON values to keep with it: versions, options.

        Raises:
            ConfigError: the folder has files in it, or cannot be written to.
        """
        self.directory = Path(directory)
        self.failure: Exception | None = None
        self._video, self._lockstep = video, lockstep
        self._tracks = [_Track() for _ in range(n)]
        self._lock = threading.Lock()
        self._offset = time.time_ns() - time.monotonic_ns()
        try:
            self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            if any(self.directory.iterdir()):
                raise ConfigError(f"{self.directory} has files in it: record into a new folder")
            self._events = EventWriter(self.directory / EVENTS_FILE, self._fail)
        except OSError as error:
            raise ConfigError(f"cannot record into {self.directory}: {error.strerror}") from error
        self._note(None, "begin", {"remotes": n, "video": video, "lockstep": lockstep, **(about or {})})

    @property
    def skipped(self) -> int:
        """Frames that are missing in the videos, because the encoders were too slow."""
        return sum(track.frames.skipped for track in self._tracks if track.frames is not None)

    def watch(self, core: RemoteVector) -> None:
        """Record every frame of the remotes from now on, as it arrives; in lock-step, steps have them all."""
        for index, track in enumerate(self._tracks):
            note = partial(self._note, index)
            stem = self.directory / f"remote-{index}"
            track.frames = FrameRecorder(stem, self._offset, note, self._fail, video=self._video)
            core.watch(index, track.frames)

    def reset(self, options: Mapping[str, object]) -> None:
        """Record a reset by the agent."""
        self._note(None, "reset", {key: value for key, value in options.items() if value is not None})

    def act(self, index: int, action: Sequence[InputEvent], moment: float | None = None) -> None:
        """Record what is sent to a remote; `moment` (monotonic) None is now."""
        events = as_json(action)
        if events:
            now = None if moment is None else round(moment * 1e9) + self._offset
            self._note(index, "action", {"events": events}, now)

    def actor(self, index: int, name: str) -> None:
        """Record who acts on a remote from now on, such as "agent" or "person"."""
        self._note(index, "actor", {"name": name})

    def receive(
        self, index: int, observation: Mapping[str, Any] | None, reward: float | None, info: Mapping[str, Any]
    ) -> None:
        """Record what a step has returned of a remote."""
        if self.failure is not None:
            return
        for _, moment, events in info["timed.played"] or ():
            self.act(index, events, moment)
        now, track = self._now(), self._tracks[index]
        track.skew = round((info[_DIAGNOSTICS + "clock_skew"] or 0.0) * 1e9)
        if info["stats.reward.count"]:
            own = {
                key.removeprefix("remote."): value for key, value in info.items() if key.startswith("remote.")
            }
            track.total += reward or 0.0
            self._note(
                index, "reward", {"reward": reward, "count": info["stats.reward.count"], "info": own}, now
            )
        if info["terminated"] or info["truncated"]:
            self._end(index, track, info, now)
        self._describe(index, track, observation, info, now)
        if observation is not None and "env_observation" in observation:
            self._note(index, "observation", {"value": pack(observation["env_observation"])}, now)
        if observation is not None and self._video and self._lockstep:
            self._picture(index, track, observation["vision"], info, now)
        if now - track.lag_time >= _LAG_INTERVAL:
            track.lag_time = now
            self._note(index, "lag", {name: info[key] for name, key in _LAGS.items()}, now)

    def close(self) -> None:
        """Finish all files."""
        for track in self._tracks:
            self._close(track)
            if track.frames is not None:
                track.frames.close()
        self._events.close()

    def _describe(
        self,
        index: int,
        track: _Track,
        observation: Mapping[str, Any] | None,
        info: Mapping[str, Any],
        now: int,
    ) -> None:
        """Record states, texts and errors that have changed."""
        state = {key: info[f"env_status.{key}"] for key in ("reason", "episode_id", "env_id")}
        if tuple(state.values()) != track.state:
            track.state = tuple(state.values())
            self._note(index, "state", {"running": observation is not None, **state}, now)
        if observation is not None:
            instruction = observation.get("instruction")
            if observation.get("text") or instruction != track.instruction:
                track.instruction = instruction
                self._note(index, "text", {"text": observation.get("text"), "instruction": instruction}, now)
        if info["error"] is not None:
            self._note(index, "error", {"error": str(info["error"])}, now)
        if info["mask.masked.action"]:
            self._note(index, "action", {"events": [], "dropped": info["mask.masked.action"]}, now)

    def _end(self, index: int, track: _Track, info: Mapping[str, Any], now: int) -> None:
        body = {
            "episode_id": info["env_status.complete.episode_id"],
            "terminated": info["terminated"],
            "end_reason": info["end_reason"],
            "return": track.total,
            "skipped_episodes": info["env_status.skipped_episodes"],
        }
        track.total = 0.0
        self._note(index, "end", body, now)

    def _picture(self, index: int, track: _Track, pixels: Any, info: Mapping[str, Any], now: int) -> None:
        shape = pixels.shape[:2]
        if track.video is None or track.video.shape != shape:
            self._close(track)
            suffix = f".{track.videos}" if track.videos else ""
            path = self.directory / f"remote-{index}{suffix}.mp4"
            track.video, track.videos = VideoWriter(path, shape, self._fail), track.videos + 1
        arrived = now - round((info[_DIAGNOSTICS + "lag.observation"] or 0.0) * 1e9)
        number = track.video.frames
        track.video.add(pixels, arrived)
        self._note(index, "frame", {"video": track.video.path.name, "index": number}, arrived)

    def _close(self, track: _Track) -> None:
        if track.video is not None:
            track.video.close()
            track.video = None

    def _now(self) -> int:
        return time.monotonic_ns() + self._offset

    def _note(self, index: int | None, kind: str, body: dict[str, Any], now: int | None = None) -> None:
        if self.failure is None:
            now = self._now() if now is None else now
            skew = 0 if index is None else self._tracks[index].skew
            self._events.write(Event(kind, now, now + skew, index, body))

    def _fail(self, error: Exception) -> None:
        with self._lock:
            first, self.failure = self.failure is None, self.failure or error
        if first:
            logger.warning("the recording in %s ends here: %s", self.directory, error)
