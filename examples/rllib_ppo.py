"""PPO of RLlib on the built-in game, over VNC and in real time: `python examples/rllib_ppo.py --remotes 8`.

Run `pip install '.[rllib]'` in a separate virtual environment: RLlib needs an older Gymnasium than other extras.
"""

from __future__ import annotations

import argparse
import os

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")

import numpy as np
import ray
from gymnasium.spaces import Box
from gymnasium.vector import VectorEnv
from gymnasium.wrappers.vector import TransformObservation
from ray.rllib.algorithms.ppo import PPOConfig
from ray.tune import register_env

from universe_client import GymVectorEnv
from universe_client.adapters.rllib import env_creator
from wrappers import FrameStack, Grey, Resize

ACTIONS = [(), ("Left",), ("Right",)]


def shrink(env: GymVectorEnv) -> VectorEnv:
    """Convert observations to four grey frames of 42x42, float32 from 0 to 1, as RLlib's networks need them."""
    stacked = FrameStack(Grey(Resize(env, width=42, height=42)), size=4)
    spaces = [
        Box(0, 1, space.shape, np.float32)
        for space in (stacked.observation_space, stacked.single_observation_space)
    ]
    return TransformObservation(stacked, lambda frames: np.float32(frames) / 255, *spaces)


def configured(options: argparse.Namespace) -> PPOConfig:
    register_env("universe", env_creator)
    env_config = {
        "env_id": options.env_id,
        "actions": ACTIONS,
        "step_rate": options.step_rate,
        "max_episode_steps": options.horizon,
        "wrap": shrink,
    }
    return (
        PPOConfig()
        .environment("universe", env_config=env_config)
        .env_runners(
            num_env_runners=options.runners,
            num_envs_per_env_runner=options.remotes,
            gym_env_vectorize_mode="vector_entry_point",
        )
        .learners(num_learners=0)
        .training(
            train_batch_size_per_learner=options.batch,
            minibatch_size=min(128, options.batch),
            num_epochs=4,
            lr=3e-4,
            entropy_coeff=0.01,
        )
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--env-id", default="builtin.NeonDrive-v0")
    parser.add_argument("--remotes", type=int, default=8, help="remotes per env runner; default: %(default)d")
    parser.add_argument(
        "--runners",
        type=int,
        default=0,
        help="env runner processes; 0 samples in this process; default: %(default)d",
    )
    parser.add_argument("--iterations", type=int, default=100, help="default: %(default)d")
    parser.add_argument("--batch", type=int, default=1024, help="steps per iteration; default: %(default)d")
    parser.add_argument("--step-rate", type=float, default=15.0, help="per second; default: %(default)g")
    parser.add_argument("--horizon", type=int, default=450, help="steps per episode; default: %(default)d")
    options = parser.parse_args()

    ray.init(address="local", num_cpus=1 + options.runners, include_dashboard=False, log_to_driver=False)
    algorithm = configured(options).build_algo()
    for iteration in range(1, options.iterations + 1):
        found = algorithm.train()["env_runners"]
        steps, mean = found["num_env_steps_sampled_lifetime"], found.get("episode_return_mean", float("nan"))
        print(f"iteration {iteration}: {steps:.0f} steps, mean return {mean:.2f}", flush=True)
    algorithm.stop()
    ray.shutdown()


if __name__ == "__main__":
    main()
