"""examples/minimal_remote.py runs, and is short."""

import importlib.util
from pathlib import Path

import numpy as np

from rewarder.sdk.keys import LEFT, RIGHT
from tests.rewarder.remotes import served, wire
from vnc.events import KeyEvent

EXAMPLE = Path(__file__).parents[3] / "examples" / "minimal_remote.py"


def catch():
    spec = importlib.util.spec_from_file_location("minimal_remote", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.Catch()


def test_it_is_at_most_forty_lines():
    assert len(EXAMPLE.read_text().splitlines()) <= 40


def test_keys_move_the_cross():
    runtime = catch()
    runtime.reset("example.Catch-v0", 1)
    before = runtime.cross.copy()
    runtime.tick([KeyEvent(LEFT, True)])
    assert (runtime.cross - before).tolist() == [-4, 0]


def test_catching_pays_until_the_episode_is_done():
    runtime = catch()
    runtime.reset("example.Catch-v0", 1)
    ticks = []
    while not ticks or not ticks[-1].done:
        runtime.cross = runtime.square.copy()
        ticks.append(runtime.tick([]))
    assert [tick.reward for tick in ticks] == [1.0] * 5
    assert len(np.unique(ticks[0].frame)) > 2


def test_it_stays_on_the_screen_at_every_edge():
    runtime = catch()
    runtime.reset("example.Catch-v0", 1)
    ticks = [runtime.tick([KeyEvent(RIGHT, True)]) for _ in range(60)]
    assert ticks[-1].frame.shape == (120, 160, 3)


async def test_it_can_be_served():
    async with served(catch()) as (ports, _), wire(ports) as client:
        await client.until("v0.env.describe", env_state="running", fps=30)
        await client.send("v0.env.reset", seed=3)
        await client.until("v0.reply.env.reset")
