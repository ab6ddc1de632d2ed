"""Exported datasets; `tests/lerobot` loads one with lerobot itself."""

import json

import numpy as np
import pyarrow.parquet as pq
import pytest

import universe_client
from tests.support.remotes.agent import until_running
from universe_client import ConfigError
from universe_client.cli.main import main
from universe_client.recording.lerobot import IMAGE, export
from universe_client.recording.reading import Recording
from universe_client.recording.video import frames
from wrappers import Record


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    directory = tmp_path_factory.mktemp("recording") / "run"
    env = universe_client.make("builtin.NeonDrive-v0", remotes=2)
    with Record(env, directory) as env:
        env.reset(seed=1)
        until_running(env)
        ends = 0
        while ends < 4:
            env.wait(60, forget=True)
            ends += sum(env.step([[("KeyEvent", "Left", True)], [("KeyEvent", "Right", True)]])[2])
    return directory


@pytest.fixture(scope="module")
def dataset(recording, tmp_path_factory):
    out = tmp_path_factory.mktemp("dataset") / "out"
    return out, export([Recording(recording)], out, fps=20)


def test_rows_and_pictures_are_on_one_grid(dataset):
    out, exported = dataset
    rows = pq.read_table(out / "data/chunk-000/file-000.parquet").to_pylist()
    assert (
        len(rows) == exported.frames == sum(1 for _ in frames(out / f"videos/{IMAGE}/chunk-000/file-000.mp4"))
    )
    assert [row["index"] for row in rows] == list(range(len(rows)))
    for row in rows:
        assert row["timestamp"] == pytest.approx(row["frame_index"] / 20)


def test_rewards_and_ends_are_those_of_the_recording(recording, dataset):
    out, exported = dataset
    rows = pq.read_table(out / "data/chunk-000/file-000.parquet").to_pylist()
    episodes = sorted(Recording(recording).episodes, key=lambda episode: (episode.remote, episode.start))
    assert exported.episodes == len(episodes)
    for number, episode in enumerate(episodes):
        own = [row for row in rows if row["episode_index"] == number]
        assert sum(row["next.reward"] for row in own) == pytest.approx(episode.score)
        assert own[-1]["next.done"] == (episode.end_reason is not None)
        assert not any(row["next.done"] for row in own[:-1])


def test_actions_have_a_column_per_key(dataset):
    out, _ = dataset
    info = json.loads((out / "meta/info.json").read_text())
    assert info["features"]["action"]["names"] == ["key.Left", "key.Right"]
    rows = pq.read_table(out / "data/chunk-000/file-000.parquet").to_pylist()
    assert np.array([row["action"] for row in rows]).max(axis=0).tolist() == [1, 1]


def test_the_card_says_what_was_played_and_how(dataset):
    card = (dataset[0] / "README.md").read_text()
    assert "| builtin.NeonDrive-v0 |" in card and "`key.Left`" in card


def test_the_command_exports(recording, tmp_path, capsys):
    assert main(["export", str(recording), "--lerobot", str(tmp_path / "out"), "--fps", "10"]) == 0
    assert "rows at 10 per second" in capsys.readouterr().out


def test_an_existing_folder_is_refused(recording, tmp_path):
    with pytest.raises(ConfigError, match="give a new folder"):
        export([Recording(recording)], tmp_path)


def test_a_recording_in_lock_step_is_refused(tmp_path):
    with Record(universe_client.make("builtin.NeonDrive-v0", mode="lockstep"), tmp_path / "run"):
        pass
    with pytest.raises(ConfigError, match="lock-step"):
        export([Recording(tmp_path / "run")], tmp_path / "out")


def test_a_recording_without_pictures_says_so(tmp_path):
    directory = tmp_path / "run"
    env = universe_client.make("builtin.NeonDrive-v0")
    with Record(env, directory, video=False) as env:
        env.reset(seed=1)
        until_running(env)
        env.step([[]])
    with pytest.raises(ConfigError, match=r"nothing to export: .*no pictures"):
        export([Recording(directory)], tmp_path / "out")
