"""What all exports have in common."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from universe_client.errors import ConfigError
from universe_client.recording.reading import Episode, Recording


@dataclass(slots=True)
class Exported:
    """What an export has written.

    Attributes:
        episodes: the number of episodes.
        frames: the number of rows or pictures, of all episodes.
        left_out: why episodes are missing, a line each.
    """

    episodes: int = 0
    frames: int = 0
    left_out: list[str] = field(default_factory=list)

    def leave_out(self, recording: Recording, episode: Episode, reason: str) -> None:
        """Note why an episode is missing."""
        name = f"{recording.directory.name}, remote {episode.remote}, episode {episode.episode_id}"
        self.left_out.append(f"{name}: {reason}")

    def check(self) -> None:
        """Raise ConfigError, with the reasons, if there is no episode."""
        if not self.episodes:
            reasons = "; ".join(self.left_out) or "the recordings have no episodes"
            raise ConfigError(f"nothing to export: {reasons}")


def new_folder(out: str | Path, fps: int = 1) -> Path:
    """Return the folder that an export may create; it does not exist yet.

    Raises:
        ConfigError: `out` exists, or `fps` is not positive.
    """
    if Path(out).exists():
        raise ConfigError(f"{out} exists: give a new folder")
    if fps < 1:
        raise ConfigError(f"fps={fps} is not a positive number of rows per second")
    return Path(out)


def all_episodes(recordings: Sequence[Recording]) -> Iterator[tuple[Recording, Episode]]:
    """Return all episodes, those of a remote one after the other: so each video is decoded once."""
    for recording in recordings:
        for episode in sorted(recording.episodes, key=lambda episode: (episode.remote, episode.start)):
            yield recording, episode
