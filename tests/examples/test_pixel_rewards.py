"""The referee of examples/pixel_rewards.py on the real game: an agent acts over VNC, and a reward arrives."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

from universe_client import VectorEnv
from universe_client.providers.process import ProcessProvider
from universe_client.spaces.actions import click

EXAMPLE = Path(__file__).parents[2] / "examples" / "pixel_rewards.py"
TIMEOUT = 60


@pytest.fixture
def env():
    provider = ProcessProvider(
        1, "process.xdemineur", program=[sys.executable, str(EXAMPLE)], screen_size=(400, 440)
    )
    with VectorEnv("process.xdemineur", provider) as env:
        yield env


def steps(env, action=()):
    """Step until the time is up: first with `action`, then without any; yield what the one remote returns."""
    deadline = time.monotonic() + TIMEOUT
    action_n = [list(action)]
    while time.monotonic() < deadline:
        env.wait(1.0)
        observation_n, reward_n, done_n, info = env.step(action_n)
        action_n = [[]]
        yield observation_n[0], reward_n[0], done_n[0], info["n"][0]
    pytest.fail(f"no result within {TIMEOUT} s")


def a_closed_field(observation):
    """Return the middle of a field whose upper left corner is white."""
    corners = [(17 + 21 * column, 82 + 21 * row) for row in range(16) for column in range(16)]
    x, y = next((x, y) for x, y in corners if observation["vision"][y, x].tolist() == [255, 255, 255])
    return x + 9, y + 9


def test_open_fields_are_rewarded_and_a_mine_ends_the_episode(env):
    env.reset()
    # The referee sends the instruction after it has seen the window.
    shown = next(seen for seen, *_ in steps(env) if seen is not None and seen["text"])
    total, done = 0.0, False
    while not done:
        action = click(*a_closed_field(shown))
        shown, reward, done, info = next(result for result in steps(env, action) if result[1] or result[2])
        total += reward
    assert info["end_reason"] == "terminated"
    assert (reward, info["remote.reason"]) == (-1.0, "mine") if reward < 0 else total == pytest.approx(1)
    assert -1 <= total <= 1
