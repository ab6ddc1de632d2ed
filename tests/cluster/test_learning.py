"""Learners whose env runners and collectors are on several nodes, each with remotes of its own."""

from __future__ import annotations

import os

import pytest
import ray

from tests.cluster.learning import ppo

SOLVED = os.environ.get("CLUSTER_SOLVED") == "1"  # whether RLlib is to learn until the mean return is 450
pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.timeout(1800)]


def test_rllib_learns_on_two_nodes(nodes):
    algorithm = ppo().build_algo()
    try:
        where = algorithm.env_runner_group.foreach_env_runner(
            lambda runner: ray.get_runtime_context().get_node_id(), local_env_runner=False
        )
        assert len(set(where)) == 2
        for iteration in range(150 if SOLVED else 2):
            found = algorithm.train()["env_runners"]
            mean = found.get("episode_return_mean", 0.0)
            print(
                f"iteration {iteration + 1}: {found['num_env_steps_sampled_lifetime']:.0f} steps, return {mean:.0f}"
            )
            if mean >= 450:
                break
        assert found["num_env_steps_sampled_lifetime"] >= 2048
        assert mean >= 450 or not SOLVED
    finally:
        algorithm.stop()
