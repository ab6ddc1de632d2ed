"""PPO of Stable-Baselines3 learns the built-in game from pixels, over VNC, in real time, on a few cores.

    pip install '.[learn]'
    python examples/learn_neon_drive.py                  # 10 minutes, 8 remotes; writes learn_neon_drive.png
    python examples/learn_neon_drive.py --minutes 2 --remotes 4 --seed 1      # the minimum

The minutes include an evaluation of a random agent with the same keys before, and an evaluation of the learned agent
over whole episodes after. The games never wait, not even while the network is trained: 15 times per second the agent
observes all of them and chooses to hold left, right or nothing.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import torch
from matplotlib.figure import Figure
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import BarColumn, Progress
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.evaluation import evaluate_policy

import universe_client  # noqa: F401 - registers the game with Gymnasium
from universe_client.adapters.sb3 import SB3VecEnv
from wrappers import Crop, PixelWrapper, Resize

STEP_RATE, FPS = 15, 30
KEYS = [(), "Left", "Right"]
SHORT = 5.0
"""Runs with fewer minutes than this play fewer random episodes, to leave time for learning."""
RANDOM_EPISODES, SHORT_RANDOM_EPISODES, LEARNED_EPISODES = 10, 3, 1
"""Episodes per remote. A random driver crashes after five seconds, a good one drives for a whole minute."""
LEARNED_SECONDS = 65
"""The time reserved for the evaluation of the learned agent."""
LEAST = 2.0
"""The minimum of minutes: 20 seconds for the random agent, 65 for the evaluation, and the others for learning."""
TIMES, MINUTES, REMOTES = 5, 10.0, 8
"""With these minutes and remotes, the learned return must be this many times the random agent's."""
WINDOW = 40
"""The number of episodes that each point of the learning curve averages."""


class Hues(PixelWrapper):
    """Keeps for each pixel how far each colour exceeds the other two: cars and rings stand out, the road is black."""

    def pixels(self, frame: NDArray[np.uint8]) -> NDArray[np.uint8]:
        red, green, blue = (np.ascontiguousarray(frame[..., channel]) for channel in range(3))
        rivals = np.maximum(green, blue), np.maximum(red, blue), red
        return np.stack(
            [own - np.minimum(own, rival) for own, rival in zip((red, green, blue), rivals, strict=True)],
            axis=2,
        )


def make_env(remotes: int) -> SB3VecEnv:
    env = gymnasium.make_vec(
        "universe/NeonDrive-v0", num_envs=remotes, step_rate=STEP_RATE, actions=KEYS, fps=FPS
    )
    road = Crop(env, x=0, y=108, width=320, height=108)
    return SB3VecEnv(Resize(Hues(road), width=20, height=9))


def make_model(env: SB3VecEnv, seed: int) -> PPO:
    """Use short rollouts and a small network, because the games continue during an update (a sixth of a second)."""
    return PPO(
        "MlpPolicy",
        env,
        n_steps=128,
        batch_size=min(256, 128 * env.num_envs),
        n_epochs=10,
        learning_rate=1e-3,
        gamma=0.96,
        gae_lambda=0.9,
        ent_coef=0.01,
        policy_kwargs={"net_arch": [128, 64], "activation_fn": torch.nn.ReLU},
        device="cpu",
        seed=seed,
    )


class RandomAgent:
    """A random policy with the interface that `evaluate_policy` needs."""

    def __init__(self, seed: int) -> None:
        self._dice = np.random.default_rng(seed)

    def predict(self, observations: NDArray[Any], **_: Any) -> tuple[NDArray[np.int64], None]:
        return self._dice.integers(len(KEYS), size=len(observations)), None


def play(agent: Any, env: SB3VecEnv, episodes: int) -> list[float]:
    """Play whole episodes on each remote and return their returns."""
    returns, _ = evaluate_policy(agent, env, episodes * env.num_envs, return_episode_rewards=True)
    return [float(each) for each in np.ravel(returns)]


class Curve(BaseCallback):
    """Records the return of every episode, shows the progress, and ends learning when time is up."""

    def __init__(self, began: float, until: float, console: Console) -> None:
        super().__init__()
        self._began, self._until, self._learning_from = began, until, time.monotonic()
        self.seconds = 0.0
        self._progress = Progress("[progress.description]{task.description}", BarColumn(), console=console)
        self._task = self._progress.add_task("", total=until - self._learning_from)
        self.minutes: list[float] = []
        self.returns: list[float] = []
        self.pauses: list[float] = []
        """The duration of each update of the network, in seconds."""
        self.reaction_times: list[float] = []

    def _on_training_start(self) -> None:
        self._progress.start()

    def _on_step(self) -> bool:
        now = time.monotonic()
        for info in self.locals["infos"]:
            self.reaction_times.append(info.get("reaction_time", np.nan))
            if "episode" in info:
                self.minutes.append((now - self._began) / 60)
                self.returns.append(info["episode"]["r"])
        recent = np.mean(self.returns[-WINDOW:]) if self.returns else 0.0
        description = f"{self.num_timesteps} steps, {len(self.returns)} episodes, return {recent:.1f}"
        self._progress.update(self._task, description=description, completed=now - self._learning_from)
        return now < self._until

    def _on_rollout_end(self) -> None:
        self._trained_from = time.monotonic()

    def _on_rollout_start(self) -> None:
        if self.n_calls:
            self.pauses.append(time.monotonic() - self._trained_from)

    def _on_training_end(self) -> None:
        self.seconds = time.monotonic() - self._learning_from
        self._progress.stop()


def draw(path: Path, curve: Curve, random: float, learned: float, minutes: float) -> None:
    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    axes.plot(curve.minutes, curve.returns, ".", color="#b9a8d8", markersize=3, label="an episode")
    if len(curve.returns) >= WINDOW:
        means = np.convolve(curve.returns, np.full(WINDOW, 1 / WINDOW), "valid")
        axes.plot(curve.minutes[WINDOW - 1 :], means, color="#5b2a9d", label=f"mean of {WINDOW} episodes")
    axes.axhline(random, color="#777777", linestyle="--", label=f"random agent: {random:.1f}")
    axes.plot(
        minutes,
        learned,
        "*",
        color="#d6127f",
        markersize=14,
        label=f"evaluation: {learned:.1f}",
    )
    axes.set(xlabel="minutes of wall clock", ylabel="return", title="NeonDrive over VNC, in real time: PPO")
    axes.legend(loc="upper left")
    figure.savefig(path, dpi=120)


def print_speed(console: Console, curve: Curve, steps: int) -> None:
    console.print(
        f"{steps} steps, {steps / curve.seconds:.0f} steps/s; {len(curve.pauses)} updates of "
        f"{np.median(curve.pauses):.2f} s; reaction time {1000 * np.nanmedian(curve.reaction_times):.0f} ms (medians)"
    )


def minutes(text: str) -> float:
    if not (number := float(text)) >= LEAST:
        raise argparse.ArgumentTypeError(
            f"{text} is too short: evaluating a random agent, learning and evaluation take {LEAST:g} minutes"
        )
    return number


def learn(env: SB3VecEnv, arguments: argparse.Namespace, console: Console) -> tuple[float, float, Curve, PPO]:
    """Return the mean returns of a random agent and of the learned agent, the learning curve, and the model."""
    began = time.monotonic()
    episodes = SHORT_RANDOM_EPISODES if arguments.minutes < SHORT else RANDOM_EPISODES
    random_returns = play(RandomAgent(arguments.seed), env, episodes)
    console.print(f"random agent: {len(random_returns)} episodes, mean return {np.mean(random_returns):.2f}")
    model = make_model(env, arguments.seed)
    curve = Curve(began, began + 60 * arguments.minutes - LEARNED_SECONDS, console)
    model.learn(10**9, callback=curve)
    if not curve.pauses:
        raise SystemExit(
            f"{model.num_timesteps} steps are too few for an update of the network: increase --minutes"
        )
    returns = play(model, env, LEARNED_EPISODES)
    return float(np.mean(random_returns)), float(np.mean(returns)), curve, model


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument(
        "--minutes",
        type=minutes,
        default=MINUTES,
        help=f"wall clock time of the whole run; at least {LEAST:g}",
    )
    parser.add_argument("--remotes", type=int, default=REMOTES)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--curve", type=Path, default=Path("learn_neon_drive.png"))
    arguments = parser.parse_args()
    torch.set_num_threads(1)  # leave the other cores to the games
    console, began = Console(), time.monotonic()
    env = make_env(arguments.remotes)
    try:
        random, learned, curve, model = learn(env, arguments, console)
    finally:
        env.close()
    print_speed(console, curve, model.num_timesteps)
    console.print(
        f"learned agent: {LEARNED_EPISODES * arguments.remotes} episodes, mean return {learned:.2f}, "
        f"random agent {random:.2f}"
    )
    draw(arguments.curve, curve, random, learned, (time.monotonic() - began) / 60)
    console.print(f"wrote the learning curve to {arguments.curve}", markup=False)
    enough = arguments.minutes >= MINUTES and arguments.remotes >= REMOTES
    if enough and learned < TIMES * random:
        raise SystemExit(f"the learned return is below {TIMES} times the random agent's")


if __name__ == "__main__":
    main()
