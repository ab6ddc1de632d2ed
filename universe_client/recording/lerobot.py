"""Exports recordings as a LeRobotDataset v3 (https://huggingface.co/docs/lerobot/lerobot-dataset-v3).

Its grid of time is fixed: row `i` of an episode is at `i / fps` seconds. It has the newest picture of that moment, what
goes down before the next row or is down then, and the rewards between the two.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from universe_client.errors import ConfigError
from universe_client.recording.exported import Exported, all_episodes, new_folder
from universe_client.recording.grid import GridVideo, grid, on_grid, pixel_format, sums
from universe_client.recording.held import Columns
from universe_client.recording.reading import Episode, Recording
from universe_client.recording.video import Pixels

IMAGE = "observation.images.screen"
_FILE = "chunk-000/file-000"
_DATA = "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet"
_VIDEO = "videos/{video_key}/chunk-{chunk_index:03d}/file-{file_index:03d}.mp4"
_INDEX = "__index_level_0__"  # as pandas names an index without a name
_QUANTILES = {"q01": 0.01, "q10": 0.1, "q50": 0.5, "q90": 0.9, "q99": 0.99}
_KEY_FRAMES = 2  # loaders read pictures at random
_SAMPLES = 200
"""Pictures, evenly spread, of which the statistics of pixels are made; each is reduced to every fourth pixel."""


def export(
    recordings: Sequence[Recording],
    out: str | Path,
    fps: int = 20,
    progress: Callable[[int], None] | None = None,
) -> Exported:
    """Write a dataset.

    Args:
        recordings: whose episodes to export, in order.
        out: a new folder.
        fps: rows per second.
        progress: called with the number of exported episodes after each.

    Returns:
        What was written. Episodes without pictures, and those whose screen has another size than the first one's, are
        left out.

    Raises:
        ConfigError: `out` exists, a recording was made in lock-step, no episode can be exported, or a video cannot be
            read.
    """
    root = new_folder(out, fps)
    for recording in recordings:
        if recording.about.get("lockstep"):
            raise ConfigError(f"{recording.directory} was recorded in lock-step, without the remote's time")
    columns = Columns(
        events for each in recordings for episode in each.episodes for _, events in episode.actions
    )
    writer = _Dataset(root, fps, columns)
    for recording, episode in all_episodes(recordings):
        writer.add(recording, episode)
        if progress is not None:
            progress(writer.result.episodes)
    return writer.finish([recording.about for recording in recordings])


class _Dataset:
    """The files of a dataset while they are written."""

    def __init__(self, root: Path, fps: int, columns: Columns) -> None:
        self.result = Exported()
        self._root, self._fps, self._columns = root, fps, columns
        self._size: tuple[int, int] | None = None
        self._video: GridVideo | None = None
        self._tables: list[pa.Table] = []
        self._episodes: list[dict[str, Any]] = []
        self._tasks: dict[str, int] = {}
        self._samples: list[Pixels] = []
        self._envs: dict[str, int] = {}

    def add(self, recording: Recording, episode: Episode) -> None:
        """Add an episode, or note why it is left out."""
        pictures = recording.pictures(episode)
        first = next(pictures, None)
        if first is None:
            self.result.leave_out(recording, episode, "no pictures")
            return
        size = (first[1].shape[1], first[1].shape[0])
        if self._size not in (None, size):
            self.result.leave_out(recording, episode, f"the screen is {size[0]}x{size[1]}")
            return
        self._size = size
        times = grid(episode.frames[0].time, episode.end, self._fps)
        self._write_pictures(on_grid(times, first, pictures), size)
        self._write_rows(episode, times, size)
        env_id = episode.env_id or "unknown"
        self._envs[env_id] = self._envs.get(env_id, 0) + 1

    def _write_pictures(self, pictures: Iterator[Pixels], size: tuple[int, int]) -> None:
        if self._video is None:
            path = self._root / f"videos/{IMAGE}/{_FILE}.mp4"
            path.parent.mkdir(parents=True)
            self._video = GridVideo(path, size, self._fps, _KEY_FRAMES)
        for number, picture in enumerate(pictures):
            if number % max(self._fps, 1) == 0 and len(self._samples) < _SAMPLES:
                self._samples.append(picture[::4, ::4].copy())
            self._video.add(picture)

    def _write_rows(self, episode: Episode, times: NDArray[np.int64], size: tuple[int, int]) -> None:
        number, first, length = len(self._episodes), self.result.frames, len(times)
        rewards = sums(episode.rewards, times)
        done = np.zeros(length, np.bool_)
        done[-1] = episode.end_reason is not None
        task = episode.instruction or episode.env_id or "play"
        task_index = self._tasks.setdefault(task, len(self._tasks))
        values: dict[str, NDArray[Any]] = {
            "action": self._columns.array(episode.actions, times, size),
            "next.reward": rewards,
            "next.done": done,
            "timestamp": (np.arange(length) / self._fps).astype(np.float32),
            "frame_index": np.arange(length),
            "episode_index": np.full(length, number),
            "index": np.arange(first, first + length),
            "task_index": np.full(length, task_index),
        }
        self._tables.append(_table(values))
        self._episodes.append(
            {
                "episode_index": number,
                "tasks": [task],
                "length": length,
                "data/chunk_index": 0,
                "data/file_index": 0,
                "dataset_from_index": first,
                "dataset_to_index": first + length,
                f"videos/{IMAGE}/chunk_index": 0,
                f"videos/{IMAGE}/file_index": 0,
                f"videos/{IMAGE}/from_timestamp": first / self._fps,
                f"videos/{IMAGE}/to_timestamp": (first + length) / self._fps,
                "meta/episodes/chunk_index": 0,
                "meta/episodes/file_index": 0,
                **{
                    f"stats/{key}/{name}": statistic
                    for key, array in values.items()
                    for name, statistic in _statistics(array).items()
                },
            }
        )
        self.result.episodes, self.result.frames = number + 1, first + length

    def finish(self, about: list[dict[str, Any]]) -> Exported:
        self.result.check()
        assert self._video is not None and self._size is not None
        self._video.close()
        data = pa.concat_tables(self._tables)
        self._parquet(f"data/{_FILE}.parquet", data)
        self._parquet(f"meta/episodes/{_FILE}.parquet", pa.Table.from_pylist(self._episodes))
        self._parquet("meta/tasks.parquet", _tasks(self._tasks))
        self._json("meta/info.json", self._info(self._size))
        statistics = {name: _statistics(_array(data[name])) for name in data.column_names}
        self._json("meta/stats.json", {**statistics, IMAGE: _pixel_statistics(self._samples)})
        (self._root / "README.md").write_text(self._card(about))
        return self.result

    def _info(self, size: tuple[int, int]) -> dict[str, Any]:
        width, height = size
        video = {
            "video.height": height, "video.width": width, "video.channels": 3, "video.codec": "h264",
            "video.pix_fmt": pixel_format(size), "video.fps": self._fps, "video.is_depth_map": False,
            "has_audio": False,
        }  # fmt: skip
        names = ["height", "width", "channels"]
        scalars = {
            "next.reward": "float32", "next.done": "bool", "timestamp": "float32", "frame_index": "int64",
            "episode_index": "int64", "index": "int64", "task_index": "int64",
        }  # fmt: skip
        return {
            "codebase_version": "v3.0",
            "robot_type": "universe-client",
            "total_episodes": self.result.episodes,
            "total_frames": self.result.frames,
            "total_tasks": len(self._tasks),
            "chunks_size": 1000,
            "data_files_size_in_mb": 100,
            "video_files_size_in_mb": 200,
            "fps": self._fps,
            "splits": {"train": f"0:{self.result.episodes}"},
            "data_path": _DATA,
            "video_path": _VIDEO,
            "features": {
                IMAGE: {"dtype": "video", "shape": [height, width, 3], "names": names, "info": video},
                "action": {
                    "dtype": "float32",
                    "shape": [len(self._columns.names)],
                    "names": self._columns.names,
                },
                **{name: {"dtype": dtype, "shape": [1], "names": None} for name, dtype in scalars.items()},
            },
        }

    def _card(self, about: list[dict[str, Any]]) -> str:
        played = "\n".join(f"| {env_id} | {count} |" for env_id, count in sorted(self._envs.items()))
        left_out = "\n".join(f"- {line}" for line in self.result.left_out) or "- nothing"
        versions = ", ".join(sorted({str(each.get("version", "unknown")) for each in about}))
        return f"""---
tags: [LeRobot, universe-client]
---

Screens, input and rewards recorded by universe-client {versions}, at {self._fps} rows per second.

| environment | episodes |
|---|---|
{played}

An action has the keys and buttons that are down (0 or 1) and the pointer as shares of the screen:
{", ".join(f"`{name}`" for name in self._columns.names) or "there was none"}.

Left out:

{left_out}
"""

    def _parquet(self, name: str, table: pa.Table) -> None:
        path = self._root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(table, path)

    def _json(self, name: str, value: dict[str, Any]) -> None:
        (self._root / name).write_text(json.dumps(value, indent=4))


def _table(values: dict[str, NDArray[Any]]) -> pa.Table:
    return pa.table({name: _column(array) for name, array in values.items()})


def _column(array: NDArray[Any]) -> pa.Array:
    """Return an array of numbers, or of lists of them."""
    flat = pa.array(array.reshape(-1))
    return flat if array.ndim == 1 else pa.FixedSizeListArray.from_arrays(flat, array.shape[1])


def _array(column: pa.ChunkedArray) -> NDArray[Any]:
    return np.array(column.to_pylist())


def _tasks(tasks: dict[str, int]) -> pa.Table:
    """Return the table of tasks, whose index is the text, as pandas stores it."""
    table = pa.table({"task_index": list(tasks.values()), _INDEX: list(tasks)})
    columns = [
        _pandas("task_index", "task_index", "int64", "int64"),
        _pandas(None, _INDEX, "unicode", "object"),
    ]
    kinds = [_pandas(None, None, "unicode", "object")]
    pandas = {
        "index_columns": [_INDEX],
        "column_indexes": kinds,
        "columns": columns,
        "pandas_version": "2.2.0",
    }
    return table.replace_schema_metadata({"pandas": json.dumps(pandas)})


def _pandas(
    name: str | None, field_name: str | None, pandas_type: str, numpy_type: str
) -> dict[str, str | None]:
    kinds = {"pandas_type": pandas_type, "numpy_type": numpy_type, "metadata": None}
    return {"name": name, "field_name": field_name, **kinds}


def _statistics(array: NDArray[Any]) -> dict[str, Any]:
    """Return LeRobot's statistics over the first axis."""
    values = array.reshape(len(array), -1).astype(np.float64)
    return {
        "min": values.min(axis=0).tolist(),
        "max": values.max(axis=0).tolist(),
        "mean": values.mean(axis=0).tolist(),
        "std": values.std(axis=0).tolist(),
        "count": [len(values)],
        **{name: np.quantile(values, share, axis=0).tolist() for name, share in _QUANTILES.items()},
    }


def _pixel_statistics(samples: Sequence[Pixels]) -> dict[str, Any]:
    """Return statistics of each channel of pictures, in 0 to 1, with the shape (3, 1, 1)."""
    flat = np.concatenate([sample.reshape(-1, 3) for sample in samples]) / 255
    statistics = _statistics(flat)
    return {
        name: [len(samples)] if name == "count" else [[[value]] for value in values]
        for name, values in statistics.items()
    }
