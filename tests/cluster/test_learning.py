"""Learners whose env runners, collectors and workers are on several nodes, each with remotes of its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
import ray

from tests.cluster.learning import MOST_OF_A_NODE, ppo, torchrl_env

SOLVED = os.environ.get("CLUSTER_SOLVED") == "1"  # whether RLlib is to learn until the mean return is 450
EXAMPLE = Path(__file__).parents[2] / "examples" / "ray_rollouts.py"
pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.timeout(1800)]


def test_rllib_learns_on_two_nodes(nodes):
    began = time.monotonic()
    algorithm = ppo().build_algo()
    try:
        where = algorithm.env_runner_group.foreach_env_runner(
            lambda runner: ray.get_runtime_context().get_node_id(), local_env_runner=False
        )
        assert len(set(where)) == 2
        for iteration in range(150 if SOLVED else 2):
            found = algorithm.train()["env_runners"]
            mean = found.get("episode_return_mean", 0.0)
            steps, seconds = found["num_env_steps_sampled_lifetime"], time.monotonic() - began
            print(f"iteration {iteration + 1}: {steps:.0f} steps, return {mean:.0f} after {seconds:.0f} s")
            if mean >= 450:
                break
        assert found["num_env_steps_sampled_lifetime"] >= 2048
        assert mean >= 450 or not SOLVED
    finally:
        algorithm.stop()


def test_collectors_of_torchrl_play_on_two_nodes(nodes):
    from torchrl.collectors.distributed import RayCollector

    collector = RayCollector(
        [torchrl_env, torchrl_env],
        None,  # a random policy
        frames_per_batch=64,
        total_frames=256,
        sync=True,
        remote_configs={"num_cpus": MOST_OF_A_NODE, "num_gpus": 0},
    )
    try:
        where = ray.get(
            [
                each.__ray_call__.remote(lambda self: ray.get_runtime_context().get_node_id())
                for each in collector.remote_collectors
            ]
        )
        assert len(set(where)) == 2
        seen, ends = 0, 0
        for batch in collector:  # its memory is used again for the next one
            seen += batch.numel()
            ends += int(batch["next", "done"].sum())
            assert batch["observation"].shape[-1] == 4
            assert (batch["next", "reward"] == 1).all(), "CartPole pays 1 a step; no step is one of a reset"
        assert seen == 256
        assert ends > 0, "at random the pole falls within 30 steps or so"
    finally:
        collector.shutdown(shutdown_ray=False)


def test_the_rollouts_of_the_example_come_from_two_nodes(nodes):
    options = {"workers": 2, "remotes": 2, "iterations": 3, "steps": 60, "cpus": MOST_OF_A_NODE}
    done = subprocess.run(
        [sys.executable, str(EXAMPLE), *(f"--{name}={value}" for name, value in options.items())],
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert re.search(r"iteration 3: \d+ episodes on 2 nodes, mean return \d+", done.stdout), done.stdout
