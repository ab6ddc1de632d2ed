"""One learner and its rollout workers on the nodes of a Ray cluster; each worker drives remotes of its own.

    pip install '.[ray,gym-core]'
    python examples/ray_rollouts.py --workers 2 --remotes 4      # on this machine, or on the cluster of $RAY_ADDRESS

The policy is linear and learns CartPole by policy gradients (REINFORCE). What travels between the nodes is small: four
weights to the workers, and for each step the state, the action and the return to the learner. The remotes, with their
pixels and their clocks, stay on the nodes of their workers.
"""

from __future__ import annotations

import argparse
import os
from dataclasses import dataclass

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")

import numpy as np
import ray
from numpy.typing import NDArray

from universe_client import GymVectorEnv

DISCOUNT = 0.98
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Batch:
    """What a worker has seen: one row for each step, and the length of each episode that ended."""

    states: Floats
    actions: Floats
    returns: Floats
    lengths: list[int]
    node: str


class Worker:
    """An actor that plays its own remotes in lock-step."""

    def __init__(self, remotes: int, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.env = GymVectorEnv(
            "gym-core.CartPole-v1",
            num_envs=remotes,
            mode="lockstep",
            actions=["Left", "Right"],
            observation="env_observation",
        )
        self.states, _ = self.env.reset(seed=seed)
        self.fresh = np.zeros(remotes, bool)  # rows whose next step only begins an episode
        self.steps = np.zeros(remotes, int)

    def rollout(self, weights: Floats, steps: int) -> Batch:
        """Play so many steps of every remote with a policy."""
        seen, chosen, paid, ends, counted = [], [], [], [], []
        lengths: list[int] = []
        for _ in range(steps):
            actions = self.random.random(len(self.states)) < right(weights, self.states)
            seen.append(self.states)
            self.states, rewards, terminations, truncations, _ = self.env.step(actions.astype(np.int64))
            done = terminations | truncations
            chosen.append(actions)
            paid.append(rewards)
            ends.append(done)
            counted.append(~self.fresh)
            self.steps += ~self.fresh
            lengths += self.steps[done].tolist()
            self.steps[done] = 0
            self.fresh = done
        mask = np.array(counted)
        returns = discounted(np.array(paid), np.array(ends))
        node = ray.get_runtime_context().get_node_id()
        return Batch(np.array(seen)[mask], np.array(chosen)[mask] * 1.0, returns[mask], lengths, node)

    def close(self) -> None:
        """End the remotes."""
        self.env.close()


def right(weights: Floats, states: Floats) -> Floats:
    """Return the probability of pushing to the right in each state."""
    return 1 / (1 + np.exp(-np.clip(states @ weights, -30, 30)))


def discounted(rewards: Floats, ends: NDArray[np.bool_]) -> Floats:
    """Return the discounted sum of the rewards from each step on, for arrays of shape (steps, remotes)."""
    returns, following = np.zeros_like(rewards), np.zeros(rewards.shape[1])
    for step in reversed(range(len(rewards))):
        following = rewards[step] + DISCOUNT * np.where(ends[step], 0.0, following)
        returns[step] = following
    return returns


def gradient(weights: Floats, batches: list[Batch]) -> Floats:
    """Return the policy gradient, with the mean return as the baseline."""
    states, actions, returns = (
        np.concatenate([getattr(batch, name) for batch in batches])
        for name in ("states", "actions", "returns")
    )
    advantages = (returns - returns.mean()) / (returns.std() + 1e-8)
    result: Floats = ((actions - right(weights, states)) * advantages) @ states / len(states)
    return result


def learn(workers: list[ray.actor.ActorHandle], options: argparse.Namespace) -> float:
    weights = np.zeros(4)
    mean = float("nan")
    for iteration in range(1, options.iterations + 1):
        shared = ray.put(weights)
        batches = ray.get([worker.rollout.remote(shared, options.steps) for worker in workers])
        weights = weights + options.rate * gradient(weights, batches)
        lengths = [length for batch in batches for length in batch.lengths]
        mean = float(np.mean(lengths)) if lengths else float("nan")
        nodes = len({batch.node for batch in batches})
        print(
            f"iteration {iteration}: {len(lengths)} episodes on {nodes} nodes, mean return {mean:.0f}",
            flush=True,
        )
    return mean


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--workers", type=int, default=2, help="default: %(default)d")
    parser.add_argument("--remotes", type=int, default=4, help="of each worker; default: %(default)d")
    parser.add_argument("--iterations", type=int, default=30, help="default: %(default)d")
    parser.add_argument(
        "--steps", type=int, default=250, help="per remote and iteration; default: %(default)d"
    )
    parser.add_argument("--rate", type=float, default=20.0, help="learning rate; default: %(default)g")
    parser.add_argument("--cpus", type=float, default=1.0, help="reserved by a worker; default: %(default)g")
    options = parser.parse_args()

    ray.init(log_to_driver=False)
    kind = ray.remote(Worker).options(num_cpus=options.cpus, scheduling_strategy="SPREAD")
    workers = [kind.remote(options.remotes, seed) for seed in range(options.workers)]
    try:
        learn(workers, options)
    finally:
        ray.get([worker.close.remote() for worker in workers])
        ray.shutdown()


if __name__ == "__main__":
    main()
