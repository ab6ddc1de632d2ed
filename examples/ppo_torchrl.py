"""PPO with TorchRL: its collector, loss and modules over a vector of remotes.

    pip install '.[torchrl]'
    python examples/ppo_torchrl.py --remotes 8 --minutes 10

TorchRL resets the rows that ended itself, by `reset_mask`, so the vector has `autoreset_mode="Disabled"`.
"""

from __future__ import annotations

import argparse
import time

import gymnasium
import torch
from tensordict.nn import TensorDictModule
from torch import nn
from torchrl.collectors import Collector
from torchrl.envs import EnvBase, GymWrapper, RewardSum, TransformedEnv
from torchrl.modules import ProbabilisticActor, ValueOperator
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE

import universe_client  # noqa: F401 - registers its environments with Gymnasium
from wrappers import Crop, FrameStack, Resize


class Pixels(nn.Module):
    """Converts each uint8 frame to a row of float32 from 0 to 1."""

    def forward(self, pixels: torch.Tensor) -> torch.Tensor:
        return pixels.flatten(-3).float() / 255


def make_env(env_id: str, remotes: int) -> EnvBase:
    raw = gymnasium.make_vec(
        env_id, num_envs=remotes, step_rate=12, actions=[(), "Left", "Right"], autoreset_mode="Disabled"
    )
    env = FrameStack(Resize(Crop(raw, x=0, y=108, width=320, height=108), width=20, height=9), size=2)
    wrapped = GymWrapper(env, categorical_action_encoding=True)
    return TransformedEnv(wrapped, RewardSum())


def network(outputs: int) -> nn.Sequential:
    return nn.Sequential(
        Pixels(), nn.LazyLinear(128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, outputs)
    )


def make_actor(env: EnvBase) -> ProbabilisticActor:
    logits = TensorDictModule(network(env.action_spec.space.n), in_keys=["observation"], out_keys=["logits"])
    return ProbabilisticActor(
        logits,
        in_keys=["logits"],
        spec=env.action_spec,
        distribution_class=torch.distributions.Categorical,
        return_log_prob=True,
    )


def learn(env: EnvBase, arguments: argparse.Namespace) -> None:
    actor, critic = make_actor(env), ValueOperator(network(1), in_keys=["observation"])
    with torch.no_grad():
        critic(actor(env.reset()))  # the lazy layers take their sizes from the first observation
    advantage = GAE(gamma=0.95, lmbda=0.9, value_network=critic, average_gae=True)
    loss = ClipPPOLoss(actor, critic, entropy_coeff=0.01, critic_coeff=0.5)
    optimizer = torch.optim.Adam(loss.parameters(), lr=1e-3)
    frames = arguments.rollout * env.batch_size.numel()
    collector = Collector(
        env,
        actor,
        frames_per_batch=frames,
        total_frames=arguments.updates * frames,
        auto_register_policy_transforms=False,
    )
    began = time.monotonic()
    returns: list[float] = []
    for update, data in enumerate(collector, start=1):
        ended = data["next", "done"]
        returns = (returns + data["next", "episode_reward"][ended].tolist())[-40:]
        for _ in range(8):
            with torch.no_grad():
                advantage(data)
            for rows in torch.randperm(frames).chunk(4):
                losses = loss(data.flatten()[rows])
                total = losses["loss_objective"] + losses["loss_critic"] + losses["loss_entropy"]
                optimizer.zero_grad()
                total.backward()
                nn.utils.clip_grad_norm_(loss.parameters(), 0.5)
                optimizer.step()
        passed = (time.monotonic() - began) / 60
        mean = sum(returns) / len(returns) if returns else float("nan")
        print(
            f"{passed:5.1f} min  update {update:4d}  step {update * frames:7d}  return {mean:6.2f}",
            flush=True,
        )
        if passed >= arguments.minutes:
            break
    collector.shutdown()


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--env", default="universe/NeonDrive-v0")
    parser.add_argument("--remotes", type=int, default=8)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--updates", type=int, default=10**6, help="maximum number of updates")
    parser.add_argument("--rollout", type=int, default=128, help="steps of each remote per update")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    torch.manual_seed(arguments.seed)
    torch.set_num_threads(1)  # leave the other cores to the remotes
    env = make_env(arguments.env, arguments.remotes)
    try:
        learn(env, arguments)
    finally:
        if not env.is_closed:
            env.close()


if __name__ == "__main__":
    main()
