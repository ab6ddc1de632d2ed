"""A recording as a remote: agents and viewers get its pictures, rewards and ends, at its pace."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rewarder.sdk.environment import Runtime, Tick
from universe_client.errors import ConfigError
from universe_client.recording.reading import Recording
from universe_client.recording.spans import Frame
from universe_client.recording.video import Pixels
from vnc.events import Event

_TICKS = 60


class Replay(Runtime):
    """Plays the episodes of one recorded remote in their order, again and again. Input has no effect.

    A picture is shown in the tick in which its time passes, to 1 / 60 s. A client's `time_scale`, and lock-step, change
    the pace.
    """

    fps = _TICKS
    lockstep = True

    def __init__(self, recording: Recording, remote: int = 0) -> None:
        """Find the episodes.

        Args:
            recording: where they are.
            remote: the index of the recorded remote.

        Raises:
            ConfigError: the remote has no episode with pictures, or its screen has several sizes.
        """
        self._recording = recording
        self._episodes = [each for each in recording.episodes if each.remote == remote and each.frames]
        if not self._episodes:
            raise ConfigError(f"{recording.directory}: remote {remote} has no episode with pictures")
        self.env_ids = list(dict.fromkeys(episode.env_id or "recording" for episode in self._episodes))
        sizes = {recording.shape(frame.video) for episode in self._episodes for frame in episode.frames}
        if len(sizes) != 1:
            raise ConfigError(f"{recording.directory}: the screen of remote {remote} has {len(sizes)} sizes")
        [(self.height, self.width)] = sizes
        self._next = 0

    def reset(self, env_id: str, seed: int | None) -> Tick:
        """Begin the next episode of `env_id`."""
        playable = [episode for episode in self._episodes if (episode.env_id or "recording") == env_id]
        self._episode = playable[self._next % len(playable)]
        self._next += 1
        self._ticks = 0
        self._pictures: Iterator[tuple[Frame, Pixels]] = self._recording.pictures(self._episode)
        self._rewards = list(reversed(self._episode.rewards))
        self._coming = next(self._pictures, None)
        shown = self._show(self._begin)
        return Tick(frame=shown, text=self._episode.instruction)

    def tick(self, events: Sequence[Event]) -> Tick:
        """Return what the recording has until the end of this tick."""
        self._ticks += 1
        now = self._begin + round(self._ticks * 1e9 / self.fps)
        is_over = now >= self._episode.end
        reward = 0.0
        while self._rewards and (is_over or self._rewards[-1][0] <= now):
            reward += self._rewards.pop()[1]
        truncated = self._episode.end_reason != "terminated"
        return Tick(frame=self._show(now), reward=reward, done=is_over, truncated=is_over and truncated)

    @property
    def _begin(self) -> int:
        return self._episode.frames[0].time

    def _show(self, now: int) -> Pixels | None:
        """Return the newest picture that is not younger than `now`, if it has not been shown."""
        shown = None
        while self._coming is not None and self._coming[0].time <= now:
            shown, self._coming = self._coming[1], next(self._pictures, None)
        return shown
