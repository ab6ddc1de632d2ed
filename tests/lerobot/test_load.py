"""What lerobot's own loader reads from an export."""

from __future__ import annotations

import os

import pytest

os.environ["HF_HUB_OFFLINE"] = "1"  # before lerobot is imported

import torch
from lerobot.datasets.lerobot_dataset import LeRobotDataset

import universe_client
from universe_client.recording.lerobot import IMAGE, export
from universe_client.recording.reading import Recording
from wrappers import Record

pytestmark = pytest.mark.filterwarnings("ignore")  # lerobot's own
EPISODES = 20


def test_lerobot_iterates_over_twenty_episodes(tmp_path):
    env = universe_client.make("builtin.NeonDrive-v0", remotes=8, time_scale=4)
    with Record(env, tmp_path / "run") as env:
        env.reset(seed=1)
        ends = 0
        while ends < EPISODES:
            assert env.wait(60, forget=True)
            ends += sum(
                map(bool, env.step([[("KeyEvent", "Left", True), ("PointerEvent", 160, 120, 1)]] * 8)[2])
            )
    exported = export([Recording(tmp_path / "run")], tmp_path / "out", fps=20)
    dataset = LeRobotDataset("me/neon-drive", root=tmp_path / "out", video_backend="pyav")
    assert dataset.num_episodes == exported.episodes >= EPISODES
    rows = 0
    for batch in torch.utils.data.DataLoader(dataset, batch_size=32):
        assert batch[IMAGE].shape[1:] == (3, 240, 320) and batch[IMAGE].dtype == torch.float32
        assert batch["action"].shape[1:] == (4,)
        assert set(batch["task"]) == {"builtin.NeonDrive-v0"}
        rows += len(batch["index"])
    assert rows == exported.frames
    assert dataset.meta.features["action"]["names"] == ["key.Left", "pointer.x", "pointer.y", "button.1"]
