"""`updates`: how many frames the remotes send to an agent that steps less often than they draw."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import gymnasium
import numpy as np
import pytest

import universe_client
from wrappers import BlockingReset, Joint, Throttle

ENV_ID, STEPS = "universe/NeonDrive-v0", 6
FEW = 12
"""Updates in a second: more than are needed, also if steps are late; the remote draws 60."""


def updates(infos: Iterable[Any]) -> float:
    """The updates in each step, except the first two, for which the whole screen was requested."""
    counts = [int(np.sum(info["stats.vnc.updates.n"])) for info in infos]
    return float(np.mean(counts[2:]))


@pytest.mark.parametrize("driver", ["auto", "portable"])
def test_an_agent_that_looks_seldom_is_not_sent_every_frame(driver):
    with gymnasium.make_vec(ENV_ID, num_envs=1, step_rate=1, driver=driver) as env:
        env.reset(seed=1)
        assert 0 < updates(env.step(env.action_space.sample())[4] for _ in range(STEPS)) < FEW


def test_every_frame_can_be_asked_for():
    with gymnasium.make_vec(ENV_ID, num_envs=1, step_rate=1, updates="every") as env:
        env.reset(seed=1)
        assert updates(env.step(env.action_space.sample())[4] for _ in range(STEPS)) > 3


def test_a_throttle_around_several_environments_says_when_it_looks():
    envs = [universe_client.make("builtin.NeonDrive-v0", remotes=1) for _ in range(2)]
    with Throttle(BlockingReset(Joint(envs)), step_rate=1) as env:
        env.reset()
        steps = [env.step([[], []])[3]["n"] for _ in range(STEPS)]
    for remote in range(2):
        assert 0 < updates(infos[remote] for infos in steps) < FEW


def test_the_frame_is_as_new_as_the_look():
    """The pixels change with each tick, so an old frame would be seen again."""
    with gymnasium.make_vec(ENV_ID, num_envs=1, step_rate=4) as env:
        observation, _ = env.reset(seed=1)
        repeated = 0
        for _ in range(12):
            before = observation
            observation, *_ = env.step(env.action_space.sample())
            repeated += bool((observation == before).all())
    assert repeated <= 4
