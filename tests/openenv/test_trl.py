"""GRPO of TRL on a web page: the rewards of real clicks reach the trainer."""

from __future__ import annotations

import os

import pytest

from tests.examples.test_examples import load
from tests.support.remotes.openenv import served
from universe_client.adapters.openenv import ComputerClient

pytestmark = [pytest.mark.filterwarnings("default"), pytest.mark.timeout(900)]
SMALL = {"per_device_train_batch_size": 8, "num_generations": 4}


def test_rewards_reach_the_trainer(monkeypatch):
    monkeypatch.setitem(os.environ, "HF_HUB_OFFLINE", "1")  # nothing is downloaded
    train = load("grpo_click_test").train
    with served("browser.click-test", "process:1", sessions=2, format="png") as url:
        rewards, played = train(url, steps=2, pages=2, sessions=2, **SMALL)
    assert len(played) == 16
    assert rewards == pytest.approx([sum(played[:8]) / 8, sum(played[8:]) / 8], abs=1e-3)


def test_an_answer_is_clicked_on_its_page():
    example = load("grpo_click_test")
    with (
        served("browser.click-test", "process:1", format="png") as url,
        ComputerClient(base_url=url, connect_timeout_s=60, message_timeout_s=240).sync() as client,
    ):
        words = example.words_of(client.reset(seed=3).observation).split()
        on = [cell for cell, word in enumerate(words) if word == "#"]
        off = [cell for cell, word in enumerate(words) if word == "."]
        assert len(words) == example.CELLS**2 and on and off
        middle = min(on, key=lambda cell: abs(cell - sum(on) / len(on)))
        play = example.Pages([client])
        rewards = play([f"cell-{middle}", f"cell-{off[0]}", "#", "cell-x"], [3] * 4)
    assert rewards[0] > 0 and rewards[1:] == [0.0, 0.0, 0.0]
    assert play.played == rewards
