"""The examples run as documented and do what they document."""

from __future__ import annotations

import importlib.util
import random
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from rewarder.runtimes.neon.drive import ENV_ID, NeonDrive
from universe_client.spaces.actions import key

EXAMPLES = Path(__file__).parents[2] / "examples"


def run(name: str, *arguments: str, timeout: float = 250) -> str:
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / name), *arguments],
        capture_output=True,
        text=True,
        timeout=timeout,
        cwd=EXAMPLES.parent,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    "name",
    ["random_agent.py", "pixel_agent.py", "evaluate.py", "many_remotes.py", "staggered_inference.py"],
)
def test_help_begins_with_what_it_is(name):
    first = (EXAMPLES / name).read_text().splitlines()[0].strip('"')
    assert first in run(name, "--help")


def test_the_random_agent_plays():
    assert re.search(r"\d+ episodes ended in 2 s", run("random_agent.py", "--seconds", "2", "--remotes", "2"))


def test_the_pixel_agent_plays_over_vnc():
    output = run("pixel_agent.py", "--seconds", "3", "--remotes", "2", "--seed", "1")
    assert re.search(r"\d+ episodes, mean return -?\d", output)


def test_many_remotes_are_answered_in_batches():
    output = run("many_remotes.py", "--remotes", "4", "--batch", "3", "--seconds", "10")
    batch, fewest = re.findall(r" ([\d.]+) a batch; of one remote (\d+) to ", output)[0]
    assert 1 <= float(batch) <= 3
    assert int(fewest) > 0


def test_staggered_inference_decides_more_often_than_one_could():
    output = run("staggered_inference.py", "--seconds", "12", "--thinking", "0.5", "--workers", "4")
    decisions = re.findall(r"([\d.]+) decisions/s of 0.5 s each, up to \d+ entries planned", output)[0]
    assert float(decisions) > 2, "no more than one after the other"


def test_chunks_are_for_agents_that_plan():
    output = run(
        "evaluate.py", "--agent", "pixel_agent:PixelAgent", "--episodes", "1", "--delay", "0.1", "--chunk"
    )
    assert float(re.findall(r"return, mean +│ (\S+)", output)[0]) > 20, (
        "worse than an agent that does not look"
    )


def test_evaluation_gives_the_reaction_time_beside_the_score():
    game = ("--env-id", "gym-core.MountainCar-v0", "--episodes", "2")  # long episodes, each with many actions
    output = run("evaluate.py", *game, "--agent", "random", "--agent", "noop", "--delay", "0.1")
    figures = {
        name.strip(): values for name, *values in re.findall(r"│ ([a-z][^│]*)│ (\S+) +│ (\S+) +│", output)
    }
    assert "random ┃ noop" in output
    assert figures["episodes"] == ["2", "2"]
    assert figures["reaction time, mean ms"][1] == "-", "an agent that never acts has no reaction time"
    assert float(figures["reaction time, mean ms"][0]) > 100
    assert float(figures["frames/s of a remote"][0]) > 0


# -- the pixel agent on the game itself, without a clock: the results are the same on every machine


def load(name: str):
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = sys.modules[name] = importlib.util.module_from_spec(spec)  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def game():
    game = NeonDrive()
    game.open()
    return game


def play(game, agent, seed: int, seconds: int = 15) -> float:
    """Return the return of an agent that sees 30 frames per second and whose keys arrive one tick later."""
    tick, held, total = game.reset(ENV_ID, seed), set(), 0.0
    for _ in range(seconds * 30):
        wanted = agent(tick.frame)
        changes = [key(name, False) for name in held - wanted] + [key(name, True) for name in wanted - held]
        held = wanted
        for events in ([], changes):
            tick = game.tick(events)
            total += tick.reward
            if tick.done:
                return total
    return total


def test_the_pixel_agent_plays_well_above_random(game):
    drive = load("pixel_agent").drive
    dice = random.Random(5)
    by_chance = [
        play(game, lambda frame: {dice.choice(["Left", "Right", "Up", "Down"])}, seed) for seed in range(4)
    ]
    by_sight = [play(game, drive, seed) for seed in range(4)]
    assert np.mean(by_sight) > 20
    assert np.mean(by_sight) > 5 * max(np.mean(by_chance), 1)


def test_the_pixel_agent_sees_what_is_there(game):
    module = load("pixel_agent")
    tick = game.reset(ENV_ID, 0)
    for _ in range(170):
        tick = game.tick([])
    player, traffic, _ = module.look(tick.frame)
    things = [thing for thing in game._road.things if thing.kind == "traffic" and thing.z < 8]
    assert abs(player - game._player) < 0.05
    assert things
    for thing in things:
        lane = np.abs(module.LANES - thing.x).argmin()
        assert traffic[lane] == pytest.approx(thing.z - module.ROAD / 118, abs=0.3)
    assert module.look(np.zeros_like(tick.frame))[0] is None


def test_the_pixel_agent_presses_its_keys_again_after_an_end(game):
    """`BlockingReset` never shows it an observation that is None."""
    agent = load("pixel_agent").PixelAgent()
    observation_n = [{"vision": game.reset(ENV_ID, 0).frame.copy()}]
    pressed = agent(observation_n, [0.0], [False], {})
    assert pressed[0]
    assert agent(observation_n, [0.0], [False], {}) == [[]]
    assert agent(observation_n, [0.0], [True], {}) == pressed
