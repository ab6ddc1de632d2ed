"""Exports the environment observations of recordings as a Minari dataset (https://minari.farama.org)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from re import fullmatch
from typing import Any

import gymnasium
import minari
import numpy as np
from minari.data_collector import EpisodeBuffer
from minari.dataset.minari_storage import MinariStorage
from numpy.typing import NDArray

from rewarder.version import VERSION
from universe_client.errors import ConfigError
from universe_client.recording.exported import Exported, all_episodes, new_folder
from universe_client.recording.held import Columns
from universe_client.recording.reading import Episode, Recording


def export(
    recordings: Sequence[Recording],
    out: str | Path,
    progress: Callable[[int], None] | None = None,
) -> Exported:
    """Write a dataset with a step for each observation of the agent.

    An action has the keys and buttons (0 or 1) that were pressed before the next observation or are down when it comes,
    and the place of the pointer in pixels. The environment's observation after the end of an episode is unknown: the
    last one is repeated.

    Args:
        recordings: whose episodes to export, in order.
        out: a new folder, `name-v0`: `minari.load_dataset("name-v0")` finds it in `MINARI_DATASETS_PATH`.
        progress: called with the number of exported episodes after each.

    Returns:
        What was written. Episodes without environment observations, and those whose observations have another shape
        than the first one's, are left out.

    Raises:
        ConfigError: `out` exists or has no version in its name, or no episode can be exported.
    """
    root = new_folder(out)
    if not fullmatch(r"[-\w]+-v\d+", root.name):
        raise ConfigError(
            f"{root.name!r} is not the name of a Minari dataset: end it with a version, as in name-v0"
        )
    writer = _Dataset(recordings, progress)
    buffers = writer.buffers()
    first = next(buffers, None)
    writer.result.check()
    assert first is not None
    data = root.absolute() / "data"  # Minari's storage cannot have a relative path
    data.mkdir(parents=True)
    storage = MinariStorage.new(data, writer.space, writer.action_space, jpeg_encoding=False)
    storage.update_metadata(
        {
            "dataset_id": root.name,
            "minari_version": minari.__version__,
            "description": f"Recorded by universe-client {VERSION}. Actions: {', '.join(writer.columns.names)}.",
        }
    )
    storage.update_episodes([first])
    storage.update_episodes(buffers)
    return writer.result


class _Dataset:
    """The episodes of a dataset, and their spaces."""

    def __init__(self, recordings: Sequence[Recording], progress: Callable[[int], None] | None) -> None:
        self.result = Exported()
        self._recordings, self._progress = recordings, progress
        self.columns = Columns(
            events for _, episode in all_episodes(recordings) for _, events in episode.actions
        )
        size = len(self.columns.names)
        self.action_space = gymnasium.spaces.Box(0.0, float(0xFFFF), (size,), np.float32)
        self.space: gymnasium.spaces.Box | None = None

    def buffers(self) -> Iterator[EpisodeBuffer]:
        """Return the episodes."""
        for recording, episode in all_episodes(self._recordings):
            observations = _array(episode)
            if observations is None:
                self.result.leave_out(
                    recording, episode, "no environment observations that are arrays of numbers"
                )
                continue
            if self.space is None:
                self.space = _box(observations)
            if observations.shape[1:] != self.space.shape:
                self.result.leave_out(recording, episode, f"observations of shape {observations.shape[1:]}")
                continue
            self.result.episodes += 1
            self.result.frames += len(observations)
            yield self._buffer(episode, observations.astype(self.space.dtype))
            if self._progress is not None:
                self._progress(self.result.episodes)

    def _buffer(self, episode: Episode, observations: NDArray[Any]) -> EpisodeBuffer:
        times = np.array([time for time, _ in episode.observations], np.int64)
        rewards = np.zeros(len(times))
        for time, reward in episode.rewards:
            # A step's reward and observation have one time; the reward is that of the action before.
            rewards[max(int(np.searchsorted(times, time)) - 1, 0)] += reward
        ends = np.zeros((2, len(times)), np.bool_)
        ends[int(episode.end_reason != "terminated"), -1] = True
        return EpisodeBuffer(
            id=self.result.episodes - 1,
            observations=[*observations, observations[-1]],
            actions=list(self.columns.array(episode.actions, times, (1, 1))),
            rewards=rewards.tolist(),
            terminations=ends[0].tolist(),
            truncations=ends[1].tolist(),
        )


def _array(episode: Episode) -> NDArray[Any] | None:
    """Return the observations of an episode as one array; None if there are none, or if they are no numbers."""
    try:
        array = np.asarray([value for _, value in episode.observations])
    except ValueError:  # of different shapes
        return None
    return array if len(array) and array.dtype.kind in "biuf" else None


def _box(observations: NDArray[Any]) -> gymnasium.spaces.Box:
    kind = observations.dtype
    limits = np.iinfo(kind) if kind.kind in "iu" else None
    low, high = (0, 1) if kind.kind == "b" else (limits.min, limits.max) if limits else (-np.inf, np.inf)
    return gymnasium.spaces.Box(low, high, observations.shape[1:], kind.type)
