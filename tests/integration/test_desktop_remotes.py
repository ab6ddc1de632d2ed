"""A desktop remote as an agent has it: pixels and text in, keys and clicks out, over the wire alone."""

import os
import re
import time

import pytest

import universe_client
from tests.support.remotes.agent import is_done, one_step, until
from tests.support.remotes.tasks import instruction, middle
from tests.support.system.processes import descendants
from universe_client import click, type_text
from universe_client.providers import ProcessProvider

ENV_ID = "desktop.ClickColour-v0"


@pytest.fixture
def make():
    before = descendants(os.getpid())
    made = []

    def env(env_id):
        made.append(universe_client.VectorEnv(env_id, ProcessProvider(1, env_id, screen_size=(800, 600))))
        made[0].reset()
        return made[0]

    yield env
    for each in made:
        each.close()
    assert descendants(os.getpid()) <= before, "processes are left after close"


def test_squares_seen_in_pixels_are_clicked_and_resets_are_quick(make):
    env, resets, delays = make(ENV_ID), [], []
    vision, text = instruction(env)
    for _ in range(5):
        x, y = middle(vision, re.search(r"Click the (\w+) square", text)[1])
        clicked = time.monotonic()
        steps = [one_step(env, [click(x, y)])]
        steps += [] if steps[-1].done else until(env, is_done)
        delays.append(time.monotonic() - clicked)
        assert sum(step.reward for step in steps) == 1.0 and steps[-1].info["terminated"]
        assert steps[-1].info["remote.reason"] == "solved"
        ended = time.monotonic()
        vision, text = instruction(env)
        resets.append(time.monotonic() - ended)
    assert min(resets) < 2.0, resets
    assert min(delays) < 0.2, delays


def test_a_command_typed_into_the_terminal_is_rewarded(make):
    env = make("desktop.MoveFile-v0")
    _, text = instruction(env)
    name, folder = re.search(r"file (\S+) into the folder (\S+)\.", text).groups()
    steps = [one_step(env, [type_text(f"mv {name} {folder}\n")])]
    steps += [] if steps[-1].done else until(env, is_done)
    assert sum(step.reward for step in steps) == 1.0 and steps[-1].info["remote.reason"] == "solved"
