"""PPO of Stable-Baselines3 learns CartPole from its state, in lock-step: the world waits for the agent.

    pip install '.[learn,gym-core]'
    python examples/learn_cartpole.py                    # a few minutes; writes learn_cartpole.png

The remotes send the environment observation too (`v0.env.observation`); `observation="env_observation"` gives it to
the learner. The poles are held up with the arrow keys, like everything here.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import gymnasium
import numpy as np
import torch
from matplotlib.figure import Figure
from rich.console import Console
from rich.progress import BarColumn, Progress
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.evaluation import evaluate_policy

import universe_client  # noqa: F401 - registers its environments with Gymnasium
from universe_client.adapters.sb3 import SB3VecEnv

EPISODES = 20
"""The number of episodes of the evaluation, and of the mean that ends learning."""
SOLVED, ENOUGH = 475, 490
"""The mean return that counts as solved, of at most 500, and the mean return that ends learning."""


class Curve(BaseCallback):
    """Records the return of every episode, and ends learning when the mean return is high enough or time is up."""

    def __init__(self, seconds: float, progress: Progress) -> None:
        super().__init__()
        self._progress, self._task = progress, progress.add_task("", total=ENOUGH)
        self._until = time.monotonic() + seconds
        self.steps: list[int] = []
        self.returns: list[float] = []

    def _on_step(self) -> bool:
        for info in self.locals["infos"]:
            if "episode" in info:
                self.steps.append(self.num_timesteps)
                self.returns.append(info["episode"]["r"])
        recent = float(np.mean(self.returns[-EPISODES:])) if self.returns else 0.0
        description = f"{self.num_timesteps} steps, {len(self.returns)} episodes, return {recent:.0f}"
        self._progress.update(self._task, description=description, completed=recent)
        return recent < ENOUGH and time.monotonic() < self._until


def make_env(remotes: int) -> SB3VecEnv:
    return SB3VecEnv(
        gymnasium.make_vec(
            "universe/Remote-v0",
            num_envs=remotes,
            env_id="gym-core.CartPole-v1",
            mode="lockstep",
            observation="env_observation",
            actions=["Left", "Right"],
        )
    )


def make_model(env: SB3VecEnv, seed: int) -> PPO:
    return PPO(
        "MlpPolicy",
        env,
        n_steps=32,
        batch_size=32 * env.num_envs,
        n_epochs=20,
        learning_rate=1e-3,
        gamma=0.98,
        gae_lambda=0.8,
        device="cpu",
        seed=seed,
    )


def draw(path: Path, curve: Curve, mean: float) -> None:
    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    axes.plot(curve.steps, curve.returns, ".", color="#b9a8d8", markersize=3, label="an episode")
    means = np.convolve(curve.returns, np.full(EPISODES, 1 / EPISODES), "valid")
    axes.plot(curve.steps[EPISODES - 1 :], means, color="#5b2a9d", label=f"mean of {EPISODES} episodes")
    axes.plot(curve.steps[-1], mean, "*", color="#d6127f", markersize=14, label=f"evaluation: {mean:.0f}")
    axes.axhline(SOLVED, color="#777777", linestyle="--", label=f"{SOLVED}: solved")
    axes.set(xlabel="steps", ylabel="return", title="CartPole in lock-step, from its state: PPO")
    axes.legend(loc="center right")
    figure.savefig(path, dpi=120)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument(
        "--minutes", type=float, default=8, help="maximum time for learning; default: %(default)s"
    )
    parser.add_argument("--remotes", type=int, default=8)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--curve", type=Path, default=Path("learn_cartpole.png"))
    arguments = parser.parse_args()
    torch.set_num_threads(1)  # leave the other cores to the remotes
    console, began = Console(), time.monotonic()
    env = make_env(arguments.remotes)
    try:
        env.seed(arguments.seed)
        model = make_model(env, arguments.seed)
        with Progress("{task.description}", BarColumn(), console=console) as progress:
            curve = Curve(60 * arguments.minutes, progress)
            model.learn(10**9, callback=curve)
        seconds = time.monotonic() - began
        returns, _ = evaluate_policy(model, env, EPISODES, return_episode_rewards=True)
    finally:
        env.close()
    mean = float(np.mean(returns))
    console.print(
        f"learned in {model.num_timesteps} steps, {seconds:.0f} s, {model.num_timesteps / seconds:.0f} steps/s"
    )
    console.print(f"{EPISODES} episodes: mean return {mean:.1f}")
    draw(arguments.curve, curve, mean)
    console.print(f"wrote the learning curve to {arguments.curve}")
    if mean < SOLVED:
        raise SystemExit(f"the mean return is below {SOLVED}")


if __name__ == "__main__":
    main()
