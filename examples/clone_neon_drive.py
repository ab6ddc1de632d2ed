"""Behaviour cloning: record an agent in real time, export the recording, and learn to play from it.

    pip install '.[record]' torch
    python examples/clone_neon_drive.py                # half an hour, ten minutes of them recording
    python examples/clone_neon_drive.py --dataset DIR  # from an export that is there already, also of a person's play

The teacher is `pixel_agent.PixelAgent`. Recording and dataset stay in --out: `universe-client run --record` and
`universe-client export` would make the same ones. A small convolutional network then learns which keys the teacher
holds down for a picture, and plays in real time.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import torch
from numpy.typing import NDArray
from pixel_agent import PixelAgent  # type: ignore[import-not-found]  # beside this file
from rich.console import Console
from rich.progress import Progress, track
from torch import nn

import universe_client
from universe_client.recording.lerobot import IMAGE, export
from universe_client.recording.reading import Recording
from universe_client.recording.video import frames
from wrappers import BlockingReset, Record, Throttle

ENV_ID = "builtin.NeonDrive-v0"
STEP_RATE = 30
ROAD = slice(88, 240)
"""The rows of the screen that show the road."""
Agent = Callable[[list[Any]], list[list[tuple[str, str, bool]]]]

console = Console()


def play(env: Any, agent: Agent, seconds: float, what: str) -> list[float]:
    """Let an agent play; return the returns of the episodes that ended, or else of those that run."""
    observation_n = env.reset()
    returns, scores = np.zeros(env.n), []
    for _ in track(range(round(seconds * STEP_RATE)), what, console=console):
        observation_n, reward_n, done_n, _ = env.step(agent(observation_n))
        returns += reward_n
        for index in np.flatnonzero(done_n):
            scores.append(float(returns[index]))
            returns[index] = 0
    return scores or returns.tolist()


def record(directory: Path, remotes: int, seconds: float) -> None:
    recorded = Record(universe_client.make(ENV_ID, remotes), directory)
    with Throttle(BlockingReset(recorded), step_rate=STEP_RATE) as env:
        play(env, PixelAgent(), seconds, "record the teacher")


def small(screen: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return the road in half of its size: uint8 of shape (3, 76, 160)."""
    return np.ascontiguousarray(screen[ROAD][::2, ::2].transpose(2, 0, 1))


def load(dataset: Path) -> tuple[torch.Tensor, torch.Tensor, list[str]]:
    """Return the pictures, the keys that were held, and the names of the keys."""
    names = json.loads((dataset / "meta/info.json").read_text())["features"]["action"]["names"]
    rows = pq.read_table(dataset / "data/chunk-000/file-000.parquet")
    actions = np.array(rows["action"].to_pylist(), np.float32)
    keys = [column for column, name in enumerate(names) if name.startswith("key.")]
    screens = [small(pixels) for _, pixels in frames(dataset / f"videos/{IMAGE}/chunk-000/file-000.mp4")]
    pictures = torch.from_numpy(np.stack(screens))
    return pictures, torch.from_numpy(actions[:, keys]), [names[key].removeprefix("key.") for key in keys]


def network(keys: int) -> nn.Module:
    """Return a network from pictures to a logit per key."""
    return nn.Sequential(
        nn.Conv2d(3, 16, 5, 2), nn.ReLU(), nn.Conv2d(16, 32, 3, 2), nn.ReLU(), nn.Conv2d(32, 32, 3, 2), nn.ReLU(),
        nn.Conv2d(32, 32, 3, 1), nn.ReLU(), nn.Flatten(), nn.Dropout(0.3),
        nn.LazyLinear(128), nn.ReLU(), nn.Linear(128, keys),
    )  # fmt: skip


def mirrored(keys: list[str]) -> list[int]:
    """Return the columns of the keys on a mirrored road; none if the teacher has only steered to one side."""
    other = {"Left": "Right", "Right": "Left"}
    return [keys.index(other.get(key, key)) for key in keys] if other.keys() <= set(keys) else []


def learn(pictures: torch.Tensor, held: torch.Tensor, keys: list[str], epochs: int) -> nn.Module:
    """Return a network that has learned which keys were held; half of its pictures are mirrored."""
    model, mirror = network(held.shape[1]), mirrored(keys)
    model(pictures[:1] / 255)  # the lazy layer learns its size
    optimizer = torch.optim.AdamW(model.parameters(), 1e-3, weight_decay=0.05)
    batches = epochs * (len(pictures) // 64)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 2e-3, batches)
    with Progress(console=console) as progress:
        task = progress.add_task("learn", total=batches)
        for _ in range(batches):
            rows = torch.randint(len(pictures), (64,))
            shown, wanted = pictures[rows] / 255, held[rows]
            if mirror and torch.rand(()) < 0.5:
                shown, wanted = shown.flip(3), wanted[:, mirror]
            loss = nn.functional.binary_cross_entropy_with_logits(model(shown), wanted)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            progress.update(task, advance=1, description=f"learn, loss {loss.item():.3f}")
    return model.eval()


class Clone:
    """Holds the keys that the network finds more likely held than not."""

    def __init__(self, model: nn.Module, keys: list[str]) -> None:
        self._model, self._keys = model, keys
        self._held: dict[int, set[str]] = {}

    def __call__(self, observation_n: list[Any]) -> list[list[tuple[str, str, bool]]]:
        playing = [index for index, observation in enumerate(observation_n) if observation is not None]
        action_n: list[list[tuple[str, str, bool]]] = [[] for _ in observation_n]
        self._held = {index: self._held.get(index, set()) for index in playing}
        if not playing:
            return action_n
        pictures = np.stack([small(observation_n[index]["vision"]) for index in playing])
        with torch.inference_mode():
            logits = self._model(torch.from_numpy(pictures) / 255).numpy()
        for index, row in zip(playing, logits, strict=True):
            wanted, held = (
                {key for key, logit in zip(self._keys, row, strict=True) if logit > 0},
                self._held[index],
            )
            action_n[index] = [("KeyEvent", key, key in wanted) for key in sorted(wanted ^ held)]
            self._held[index] = wanted
        return action_n


def evaluate(agent: Agent, remotes: int, seconds: float, what: str) -> float:
    with Throttle(BlockingReset(universe_client.make(ENV_ID, remotes)), step_rate=STEP_RATE) as env:
        return float(np.mean(play(env, agent, seconds, what)))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--dataset", type=Path, help="a LeRobot dataset to learn from; none is recorded then")
    parser.add_argument("--out", type=Path, default=Path("clone"), help="a new folder; default: %(default)s")
    parser.add_argument("--remotes", type=int, default=2, help="games at the same time; default: %(default)s")
    parser.add_argument("--minutes", type=float, default=10, help="of recorded play; default: %(default)s")
    parser.add_argument("--epochs", type=int, default=12, help="default: %(default)s")
    parser.add_argument("--test", type=float, default=3, help="minutes of evaluation; default: %(default)s")
    options = parser.parse_args()
    dataset = options.dataset or options.out / "dataset"
    if options.dataset is None:
        record(options.out / "recording", options.remotes, 60 * options.minutes / options.remotes)
        export([Recording(options.out / "recording")], dataset, fps=STEP_RATE)
    pictures, held, keys = load(dataset)
    console.print(
        f"{len(pictures)} rows; held: "
        + ", ".join(f"{k} {h:.0%}" for k, h in zip(keys, held.mean(0), strict=True))
    )
    began = time.monotonic()
    clone = Clone(learn(pictures, held, keys, options.epochs), keys)
    console.print(f"learned in {time.monotonic() - began:.0f} s")
    seconds = 60 * options.test
    teacher = evaluate(PixelAgent(), options.remotes, seconds, "the teacher plays")
    score = evaluate(clone, options.remotes, seconds, "the clone plays")
    console.print(f"mean return: teacher {teacher:.1f}, clone {score:.1f} ({score / teacher:.0%})")


if __name__ == "__main__":
    main()
