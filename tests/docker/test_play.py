"""Remotes in containers start, and are played in real time."""

from __future__ import annotations

import time

import pytest

import universe_client
from tests.support.remotes.agent import one_step, until, until_running
from universe_client.cli.commands.run import Run, Until
from universe_client.providers.containers.provider import DockerProvider

pytestmark = pytest.mark.docker

ENV_IDS = [
    "builtin.NeonDrive-v0",
    "gym-core.CartPole-v1",
    "gym-core.ALE/Pong-v5",
    "browser.click-test",
    "desktop.WriteNote-v0",
]


@pytest.mark.parametrize("env_id", ENV_IDS)
def test_each_kind_of_remote_runs(open_env, env_id):
    """How long it takes is measured by `python -m benchmarks containers`."""
    env = open_env(env_id=env_id)
    env.reset()
    until_running(env, 60)


def test_four_remotes_play_side_by_side(running_env):
    env = running_env(4, "builtin.NeonDrive-v0")
    played = []
    while not played or (
        not well_played(*played[-1]) and len(played) < 10
    ):  # as below: other work on the machine
        played.append(play(env, 3))
    assert well_played(*played[-1]), played


def play(env, seconds):
    """Hold the key up in every slot; return each slot's updates of the screen and rewards."""
    frames, rewards = [0] * env.n, [0] * env.n
    until_time = time.monotonic() + seconds
    while time.monotonic() < until_time:
        step = one_step(env, [[("KeyEvent", "Up", True)]] * env.n)
        for slot, info in enumerate(step.info_n):
            frames[slot] += info["stats.vnc.updates.n"]
            rewards[slot] += info["stats.reward.count"]
        env.wait(0.1)
    return frames, rewards


def well_played(frames, rewards):
    return min(frames) > 3 * 20 and min(rewards) > 0


@pytest.mark.parametrize("env_id", ["gym-core.ALE/Pong-v5", "browser.Slalom-v0", "browser.Fireflies-v0"])
def test_games_update_at_least_thirty_times_a_second(running_env, env_id):
    env = running_env(env_id=env_id)
    rates = []
    while not rates or (
        max(rates) < 30 and len(rates) < 15
    ):  # seconds may be slow on a machine with other work
        rates.append(updates(env, 2) / 2)
    assert max(rates) >= 30, rates


def updates(env, seconds):
    """Step for so long; return how many updates of the screen came."""
    count, began = 0, time.monotonic()
    while time.monotonic() - began < seconds:
        count += one_step(env).info["stats.vnc.updates.n"]
        env.wait(0.1)
    return count


def test_what_the_agent_types_arrives(running_env):
    """CartPole pushed to one side only falls soon."""
    env = running_env()
    lengths = []
    for _ in range(3):
        began = time.monotonic()
        one_step(env, [[("KeyEvent", "Right", True)]])
        until(env, lambda step: step.done, 60)
        lengths.append(time.monotonic() - began)
        until_running(env, 60)
    assert max(lengths) < 3


def test_the_report_shows_the_phases_up_to_the_first_frame():
    seen = []
    with universe_client.VectorEnv("gym-core.CartPole-v1", DockerProvider(2, "gym-core.CartPole-v1")) as env:
        run = Run(env, lambda *_: [[], []], 60, Until(seconds=1))
        env.reset()
        deadline = time.monotonic() + 60
        while "running" not in seen and time.monotonic() < deadline:
            state = run.report().remotes[0].state
            if state not in seen:
                seen.append(state)
            env.step([[], []])
            env.wait(0.02)
    assert seen[:1] == ["daemon"] and seen[-1] == "running"
    assert {"start", "rewarder"} <= set(seen)
    order = ["daemon", "start", "rewarder", "vnc", "reset", "first frame", "running"]
    assert [phase for phase in order if phase in seen] == list(dict.fromkeys(seen))
