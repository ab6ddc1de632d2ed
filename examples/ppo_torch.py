"""PPO in one file, in the style of CleanRL: the whole algorithm from pixels to gradients, with only PyTorch.

    pip install . torch
    python examples/ppo_torch.py --env universe/NeonDrive-v0 --remotes 8 --minutes 10

The remotes run in real time behind Gymnasium's vector interface. The step after the end of an episode is a reset step,
which ignores its action (`AutoresetMode.NEXT_STEP`); the loss leaves it out.
"""

from __future__ import annotations

import argparse
import time
from collections import deque
from typing import Any

import gymnasium
import numpy as np
import torch
from torch import Tensor, nn
from torch.distributions import Categorical

import universe_client  # noqa: F401 - registers its environments with Gymnasium
from wrappers import Crop, FrameStack, Resize


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--env", default="universe/NeonDrive-v0")
    parser.add_argument("--remotes", type=int, default=8)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--updates", type=int, default=10**9, help="maximum number of updates")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--step-rate", type=float, default=12)
    parser.add_argument("--rollout", type=int, default=128, help="steps of each remote per update")
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--minibatches", type=int, default=4)
    parser.add_argument("--learning-rate", type=float, default=1e-3)
    parser.add_argument("--gamma", type=float, default=0.95)
    parser.add_argument("--gae-lambda", type=float, default=0.9)
    parser.add_argument("--clip", type=float, default=0.2)
    parser.add_argument("--entropy", type=float, default=0.01)
    return parser.parse_args()


class Agent(nn.Module):
    """Two small networks: the policy and the value function."""

    def __init__(self, inputs: int, actions: int) -> None:
        super().__init__()
        self.actor = self._network(inputs, actions, scale=0.01)
        self.critic = self._network(inputs, 1, scale=1.0)

    @staticmethod
    def _network(inputs: int, outputs: int, scale: float) -> nn.Sequential:
        last = nn.Linear(64, outputs)
        nn.init.orthogonal_(last.weight, scale)
        nn.init.zeros_(last.bias)
        return nn.Sequential(
            nn.Flatten(), nn.Linear(inputs, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU(), last
        )

    def policy(self, observations: Tensor) -> Categorical:
        return Categorical(logits=self.actor(observations))

    def value(self, observations: Tensor) -> Tensor:
        values: Tensor = self.critic(observations)
        return values.squeeze(-1)


def as_tensor(observations: Any) -> Tensor:
    return torch.from_numpy(observations).float() / 255


def main() -> None:
    args = arguments()
    torch.manual_seed(args.seed)
    torch.set_num_threads(1)  # leave the other cores to the remotes
    raw = gymnasium.make_vec(
        args.env, num_envs=args.remotes, step_rate=args.step_rate, actions=[(), "Left", "Right"]
    )
    env = FrameStack(Resize(Crop(raw, x=0, y=108, width=320, height=108), width=20, height=9), size=2)
    try:
        learn(env, args)
    finally:
        env.close()


def learn(env: gymnasium.vector.VectorEnv[Any, Any, Any], args: argparse.Namespace) -> None:
    n, shape = env.num_envs, env.single_observation_space.shape
    assert shape is not None
    agent = Agent(int(np.prod(shape)), int(env.single_action_space.n))  # type: ignore[attr-defined]
    optimizer = torch.optim.Adam(agent.parameters(), lr=args.learning_rate, eps=1e-5)
    observations = torch.zeros((args.rollout, n, *shape))
    actions, log_probs, rewards, values, over, counts = torch.zeros((6, args.rollout, n))
    running, returns = np.zeros(n), deque[float](maxlen=40)
    began = time.monotonic()
    seen, _ = env.reset(seed=args.seed)
    ended = np.zeros(n, np.bool_)  # the next step of these rows is a reset step
    for update in range(1, args.updates + 1):
        for step in range(args.rollout):
            observations[step] = as_tensor(seen)
            with torch.no_grad():
                policy = agent.policy(observations[step])
                chosen = policy.sample()
                values[step] = agent.value(observations[step])
            actions[step], log_probs[step] = chosen, policy.log_prob(chosen)
            counts[step] = torch.from_numpy(~ended)
            seen, earned, terminated, truncated, _ = env.step(chosen.numpy())
            running += earned
            if truncated.any():  # the episode would have continued: add the value of its last frame
                with torch.no_grad():
                    earned = earned + args.gamma * agent.value(as_tensor(seen)).numpy() * truncated
            ended = terminated | truncated
            rewards[step], over[step] = torch.from_numpy(earned), torch.from_numpy(ended)
            returns.extend(running[ended])
            running[ended] = 0
        with torch.no_grad():
            advantages = gae(rewards, values, over, agent.value(as_tensor(seen)), args)
        batch = counts.flatten() > 0
        data = [part.flatten(0, 1)[batch] for part in (observations, actions, log_probs, advantages, values)]
        improve(agent, optimizer, data, args)
        minutes = (time.monotonic() - began) / 60
        mean = np.mean(returns) if returns else float("nan")
        print(
            f"{minutes:5.1f} min  update {update:4d}  step {update * args.rollout * n:7d}  return {mean:6.2f}",
            flush=True,
        )
        if minutes >= args.minutes:
            return


def gae(
    rewards: Tensor, values: Tensor, over: Tensor, last_value: Tensor, args: argparse.Namespace
) -> Tensor:
    """Return generalized advantage estimates (Schulman et al. 2016)."""
    advantages = torch.zeros_like(rewards)
    advantage, next_value = torch.zeros_like(last_value), last_value
    for step in reversed(range(len(rewards))):
        continues = 1 - over[step]
        error = rewards[step] + args.gamma * next_value * continues - values[step]
        advantage = error + args.gamma * args.gae_lambda * continues * advantage
        advantages[step], next_value = advantage, values[step]
    return advantages


def improve(
    agent: Agent, optimizer: torch.optim.Optimizer, data: list[Tensor], args: argparse.Namespace
) -> None:
    """Optimize the clipped objective of PPO over all minibatches in every epoch."""
    for _ in range(args.epochs):
        for rows in torch.randperm(len(data[0])).chunk(args.minibatches):
            observations, actions, log_probs, advantages, values = (part[rows] for part in data)
            policy = agent.policy(observations)
            ratio = (policy.log_prob(actions) - log_probs).exp()
            gain = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
            clipped = ratio.clamp(1 - args.clip, 1 + args.clip)
            policy_loss = -torch.min(ratio * gain, clipped * gain).mean()
            value_loss = 0.5 * (agent.value(observations) - values - advantages).square().mean()
            loss = policy_loss + 0.5 * value_loss - args.entropy * policy.entropy().mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
            optimizer.step()


if __name__ == "__main__":
    main()
