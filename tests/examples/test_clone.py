"""The cloning example records, exports, learns and plays, each for a moment, with its own remotes."""

from __future__ import annotations

import functools
import sys

import numpy as np
import pytest
import torch

import universe_client
from tests.examples.test_examples import EXAMPLES, load
from universe_client.recording.lerobot import export
from universe_client.recording.reading import Recording

torch.set_num_threads(1)


@pytest.fixture
def example(monkeypatch):
    monkeypatch.setattr(sys, "path", [str(EXAMPLES), *sys.path])  # it imports its neighbour pixel_agent
    monkeypatch.setattr(universe_client, "make", functools.partial(universe_client.make, time_scale=4))
    return load("clone_neon_drive")


@pytest.mark.timeout(600)  # on a busy machine, the imports alone take minutes
def test_an_agent_is_recorded_and_cloned(example, monkeypatch, tmp_path):
    monkeypatch.setattr(example, "BATCH", 8)
    example.record(tmp_path / "recording", remotes=1, seconds=8)
    exported = export([Recording(tmp_path / "recording")], tmp_path / "dataset", fps=example.STEP_RATE)
    pictures, held = example.load(tmp_path / "dataset", with_lerobot=False)
    assert pictures.shape == (exported.frames, 3, 31, 80) and pictures.dtype == torch.uint8
    assert held.shape == (exported.frames, 3)
    assert held[:, example.KEYS.index("Up")].any(), "the teacher accelerates on an empty road"
    model, scores = example.learn(pictures, held, epochs=2)
    assert np.shape(scores) == (2, 3) and np.min(scores) >= 0 and np.max(scores) <= 1
    agents = {"nobody": lambda screen: set(), "clone": model.keys}
    returns = example.play(agents, remotes=1, episodes=1)
    assert {name: len(values) for name, values in returns.items()} == {"nobody": 1, "clone": 1}
    example.draw(tmp_path / "clone.png", scores, returns)
    assert (tmp_path / "clone.png").read_bytes().startswith(b"\x89PNG")


def test_slips_are_played_instead_of_what_the_teacher_wants(example, monkeypatch):
    teacher, played = example.PixelAgent(), []
    teacher.held[0] = {"Left"}
    monkeypatch.setattr(example, "SLIP_STEPS", (2, 2))
    monkeypatch.setattr(example, "SLIP_CHANCE", 1)
    with example.Slips(universe_client.make(example.ENV_ID, 1), teacher) as slips:
        monkeypatch.setattr(slips.env, "send", played.extend)
        for _ in range(4):
            slips.send([[]])
    before, slip, same_slip, after = played
    assert before == after == [True, False, False]
    assert slip == same_slip and slip[example.KEYS.index("Up")]


def test_the_clone_sees_traffic_rings_and_the_player_s_car(example):
    screen = np.zeros((240, 320, 3), np.uint8)
    screen[120:128, 40:48] = 250, 20, 30
    screen[120:128, 80:88] = 30, 250, 20
    screen[200:208, 160:168] = 20, 150, 250
    red, green, blue = example.small(screen)
    assert [np.argwhere(hue)[0].tolist() for hue in (red, green, blue)] == [[4, 10], [4, 20], [24, 40]]
    assert red.max() == 220 and green.max() == 220 and blue.max() == 230
