"""RLlib's env runner and PPO on embedded remotes."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.env.single_agent_env_runner import SingleAgentEnvRunner

from universe_client.adapters.rllib import env_creator

EXAMPLE = Path(__file__).parents[2] / "examples" / "rllib_ppo.py"
pytestmark = pytest.mark.filterwarnings("ignore")  # RLlib's own


def runner(**env_config) -> SingleAgentEnvRunner:
    config = (
        PPOConfig()
        .environment(env_creator, env_config=env_config)
        .env_runners(num_envs_per_env_runner=2, gym_env_vectorize_mode="vector_entry_point")
        .debugging(seed=1)
    )
    return SingleAgentEnvRunner(config=config)


def test_episodes_are_what_the_remotes_played():
    sampler = runner(
        env_id="gym-core.CartPole-v1",
        actions=["Left", "Right"],
        observation="env_observation",
        mode="lockstep",
    )
    try:
        episodes = sampler.sample(num_episodes=8, random_actions=True)
    finally:
        sampler.stop()
    assert len([episode for episode in episodes if episode.is_done]) >= 8
    for episode in episodes:
        assert episode.get_return() == len(episode), "CartPole pays 1 for every step"
        states = np.array(episode.get_observations())
        assert states.shape == (len(episode) + 1, 4)
        assert np.abs(states[0]).max() <= 0.05, "an episode begins near the middle"
        assert np.abs(np.diff(states[:, 0])).max() < 0.1, "and its states follow one another"


@pytest.mark.timeout(300)  # most of it is Ray's
@pytest.mark.parametrize("runners", [0, 1])
def test_ppo_learns_an_iteration_in_real_time(runners):
    options = {
        "runners": runners,
        "remotes": 2,
        "iterations": 1,
        "batch": 64,
        "horizon": 20,
        "step-rate": 60,
    }
    arguments = [f"--{name}={value}" for name, value in options.items()]
    paths = os.pathsep.join([str(EXAMPLE.parents[1]), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, str(EXAMPLE), *arguments],
        env=os.environ | {"PYTHONPATH": paths},
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    steps = re.search(r"iteration 1: (\d+) steps, mean return -?[\d.]+", done.stdout)
    assert steps is not None, done.stdout
    assert int(steps[1]) >= 64
