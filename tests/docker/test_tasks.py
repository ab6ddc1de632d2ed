"""Tasks in containers: seen in pixels, done by keyboard and mouse, rewarded by what the task itself sees."""

from __future__ import annotations

import re
import statistics
import time

import numpy as np
import pytest

from rewarder.runtimes.desktop.tasks.task import COLOURS
from tests.support.remotes.agent import running, until
from tests.support.remotes.tasks import button, instruction, middle, result
from tests.support.system.containers import PLAYER, shell
from universe_client import click, drag, type_text
from wrappers import Throttle

pytestmark = pytest.mark.docker

SOLVED = 1.0, "solved"
YELLOW = [COLOURS["yellow"] >> shift & 0xFF for shift in (16, 8, 0)]
FRAME = [88, 90, 93]  # of Openbox's windows
CLICK_TEST = "browser.click-test"


@pytest.fixture
def begun(open_env):
    """Return a resetting environment, so that the test receives its first step with pixels."""

    def begun(env_id):
        env = open_env(env_id=env_id)
        env.reset(seed=1)
        return env

    return begun


def outcome(env, action):
    reward, info = result(env, action)
    return reward, info["remote.reason"]


def test_squares_are_clicked(begun):
    env = begun("desktop.ClickColour-v0")
    for _ in range(3):
        vision, text = instruction(env)
        assert outcome(env, click(*middle(vision, re.search(r"Click the (\w+) square", text)[1]))) == SOLVED
    vision, text = instruction(env)
    wrong = next(colour for colour in COLOURS if colour not in text)
    reward, reason = outcome(env, click(*middle(vision, wrong)))
    assert (reward, reason) == (-1.0, f"the {wrong} square was clicked")


def test_a_command_is_typed_into_the_terminal(begun):
    env = begun("desktop.MoveFile-v0")
    _, text = instruction(env)
    name, folder = re.search(r"file (\S+) into the folder (\S+)\.", text).groups()
    assert outcome(env, type_text(f"mv {name} {folder}\n")) == SOLVED


def corner(vision, colour):
    """The left upper end of what is of this colour."""
    rows, columns = np.nonzero((vision == colour).all(axis=2))
    return int(columns.min()), int(rows.min())


def test_a_window_is_dragged_one_event_a_step(begun):
    """By its title, onto the yellow rectangle: the window manager takes hold of it between two steps."""
    env = begun("desktop.MoveWindow-v0")
    vision, _ = instruction(env)
    x, y = corner(vision, FRAME)
    to_x, to_y = corner(vision, YELLOW)
    steps = Throttle(env, step_rate=60)
    *before, release = drag((x + 50, y + 10), (to_x + 50, to_y - 10))
    for event in before:
        _, (reward,), _, _ = steps.step([[event]])
        assert reward == 0
    assert outcome(env, [release]) == SOLVED


def test_pages_are_played_by_their_pixels_and_soon_reset(begun):
    env = begun(CLICK_TEST)
    vision, _ = instruction(env)
    resets = []
    for _ in range(5):
        reward, info = result(env, click(*button(vision)))
        ended = time.monotonic()
        assert 0 < reward <= 1 and info["remote.raw_reward"] == 1
        vision = until(env, running)[-1].observation["vision"]
        resets.append(time.monotonic() - ended)
    assert statistics.median(resets) < 1, resets


def test_chromium_keeps_its_sandbox(running_env, containers):
    """Its renderer sees neither the other processes nor the network, by namespaces of its own."""
    (container,) = containers(running_env(env_id=CLICK_TEST))
    lines = shell(container, "for p in /proc/[0-9]*; do tr '\\0' ' ' <$p/cmdline; echo; done")[1].splitlines()
    chromium = [line for line in lines if "chromium" in line]
    assert chromium and not any("--no-sandbox" in line for line in chromium)
    script = """
        for p in /proc/[0-9]*; do
            grep -qz -- [-]-type=renderer $p/cmdline && readlink $p/ns/user $p/ns/net
        done
        readlink /proc/self/ns/user /proc/self/ns/net
    """
    *renderers, user, net = shell(container, script, PLAYER)[1].split()
    assert renderers and not {user, net} & set(renderers)
