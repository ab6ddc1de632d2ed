"""Behaviour cloning: record an agent in real time, export the recording, and learn to play from it.

    pip install '.[record,learn]'
    python examples/clone_neon_drive.py                # 20 minutes; writes clone/dataset and clone.png
    python examples/clone_neon_drive.py --dataset DIR  # from an export, perhaps of a person's play (arrow keys)

The teacher is `pixel_agent.PixelAgent`. Two games of five minutes are recorded. A small network learns from the
LeRobot dataset which keys are down for a picture. Then teacher and clone play side by side, in real time.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import torch
from matplotlib.figure import Figure
from numpy.typing import NDArray
from pixel_agent import PixelAgent, drive  # type: ignore[import-not-found]  # beside this file
from rich.progress import track
from torch import Tensor, nn

import universe_client
from universe_client.recording.lerobot import IMAGE, export
from universe_client.recording.reading import Recording
from universe_client.recording.video import frames
from universe_client.spaces.action_maps import Keys
from wrappers import EpisodeID, KeyState, Record, Throttle, Wrapper

ENV_ID, STEP_RATE = "builtin.NeonDrive-v0", 30
KEYS = ["Left", "Right", "Up"]
SLIP_CHANCE, SLIP_STEPS = 0.03, (2, 9)  # how often a step begins a slip; the shortest and the longest one
BATCH = 64
Screen = NDArray[np.uint8]
Agent = Callable[[Screen], set[str]]


class Slips(Wrapper):
    """Plays other keys than the teacher wants, now and then for a moment; a `Record` around it records what it wants.

    So the recording shows how the teacher comes back. The clone will make mistakes, and must have seen that.
    """

    def __init__(self, env: Any, teacher: PixelAgent) -> None:
        super().__init__(KeyState(env, Keys(KEYS)))
        self._teacher, self._slips = teacher, [slips(random.Random(seed)) for seed in range(self.n)]

    def send(self, action_n: Sequence[Any], at: Any = None) -> None:
        keys_n = [next(slip) or self._teacher.held.get(index, ()) for index, slip in enumerate(self._slips)]
        self.env.send([[key in keys for key in KEYS] for keys in keys_n])


def slips(dice: random.Random) -> Iterator[set[str]]:
    """Yield for each step the keys of a slip; none of them, mostly."""
    while True:
        yield set()
        if dice.random() < SLIP_CHANCE:
            keys = {dice.choice(KEYS), "Up"}
            yield from [keys] * dice.randint(*SLIP_STEPS)


def record(directory: Path, remotes: int, seconds: float) -> None:
    """Record the teacher in several games at a time, for so many seconds after all of them have begun."""
    teacher = PixelAgent()
    games = Record(Slips(universe_client.make(ENV_ID, remotes), teacher), directory)
    with Throttle(games, STEP_RATE) as env:
        result: Sequence[Any] = (env.reset(),)
        while any(observation is None for observation in result[0]):
            result = env.step(teacher(*result))
        for _ in track(range(round(seconds * STEP_RATE)), "record the teacher"):
            result = env.step(teacher(*result))


def read(dataset: Path, with_lerobot: bool) -> Iterator[tuple[Screen, list[float]]]:
    """Return the screen and the action of each row, from the files of a dataset or from lerobot's own loader."""
    if not with_lerobot:
        actions = pq.read_table(dataset / "data/chunk-000/file-000.parquet")["action"].to_pylist()
        screens = frames(dataset / f"videos/{IMAGE}/chunk-000/file-000.mp4")
        return ((screen, action) for (_, screen), action in zip(screens, actions, strict=True))
    from lerobot.datasets.lerobot_dataset import LeRobotDataset  # type: ignore[import-not-found]

    rows = LeRobotDataset("me/neon-drive", root=dataset, video_backend="pyav")
    numbered = (rows[index] for index in range(len(rows)))
    return (
        (row[IMAGE].permute(1, 2, 0).mul(255).round().byte().numpy(), row["action"].tolist())
        for row in numbered
    )


def small(screen: Screen) -> Screen:
    """Return how far red, green and blue stand out on the road, at a quarter of its size: shape (3, 31, 80)."""
    red, green, blue = np.moveaxis(screen[104:228:2, ::2].astype(np.int16), 2, 0)
    hues = np.stack([red - np.maximum(green, blue), green - np.maximum(red, blue), blue - red]).clip(0)
    return np.asarray(hues.reshape(3, 31, 2, 80, 2).mean((2, 4)), np.uint8)


def load(dataset: Path, with_lerobot: bool) -> tuple[Tensor, Tensor]:
    """Return the small pictures, and for each of them which of the `KEYS` are down."""
    info = json.loads((dataset / "meta/info.json").read_text())
    pictures, held = list[Screen](), list[list[float]]()
    for screen, action in track(read(dataset, with_lerobot), "read the dataset", info["total_frames"]):
        named = dict(zip(info["features"]["action"]["names"], action, strict=True))
        pictures.append(small(screen))
        held.append([named.get(f"key.{key}", 0.0) for key in KEYS])
    return torch.from_numpy(np.stack(pictures)), torch.tensor(held)


class Clone(nn.Module):
    """Chooses one of the combinations of keys that the teacher has held.

    It does not decide on each key: where the teacher goes left or right, neither may be more likely than not.
    """

    def __init__(self, combinations: Tensor) -> None:
        super().__init__()
        self._combinations = combinations
        self.logits = nn.Sequential(
            nn.Conv2d(3, 16, 5, 2, 2), nn.ReLU(), nn.Conv2d(16, 32, 3, 2, 1), nn.ReLU(), nn.Conv2d(32, 32, 3, 2, 1),
            nn.ReLU(), nn.Flatten(), nn.Linear(1280, 128), nn.ReLU(), nn.Linear(128, len(combinations)),
        )  # fmt: skip

    @torch.inference_mode()
    def held(self, pictures: Tensor) -> Tensor:
        """Return for each small picture which of the `KEYS` are down."""
        chosen = [self.logits(part / 255).argmax(1) for part in pictures.split(256)]
        return self._combinations[torch.cat(chosen)]

    def keys(self, screen: Screen) -> set[str]:
        """Return the names of the keys that are down for a screen."""
        [held] = self.held(torch.from_numpy(small(screen)[None])).tolist()
        return {key for key, down in zip(KEYS, held, strict=True) if down}


def learn(pictures: Tensor, held: Tensor, epochs: int) -> tuple[Clone, list[list[float]]]:
    """Return the clone, and its F1 scores after each epoch: for each key, on the last tenth of the rows."""
    combinations, classes = held.unique(dim=0, return_inverse=True)
    model, known, scores = Clone(combinations), len(pictures) * 9 // 10, list[list[float]]()
    optimizer = torch.optim.AdamW(model.parameters(), weight_decay=0.02)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 2e-3, epochs * -(-known // BATCH))
    for _ in track(range(epochs), "learn"):
        for rows in torch.randperm(known).split(BATCH):
            loss = nn.functional.cross_entropy(model.logits(pictures[rows] / 255), classes[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
        found, wanted = model.held(pictures[known:]), held[known:]
        scores.append((2 * (found * wanted).sum(0) / (found + wanted).sum(0).clamp(min=1)).tolist())
    return model, scores


def play(agents: dict[str, Agent], remotes: int, episodes: int) -> dict[str, list[float]]:
    """Return the returns of agents that play side by side: as many episodes in each game."""
    names, returns = list(agents) * remotes, {name: list[float]() for name in agents}
    sums = np.zeros(len(names))
    games = Throttle(universe_client.make(ENV_ID, len(names)), STEP_RATE)
    with KeyState(EpisodeID(games, limit=episodes * len(names)), Keys(KEYS)) as env:
        observation_n = env.reset()
        while not env.finished:
            seen_n = zip(names, observation_n, strict=True)
            keys_n = [None if seen is None else agents[name](seen["vision"]) for name, seen in seen_n]
            action_n = [None if keys is None else [key in keys for key in KEYS] for keys in keys_n]
            observation_n, reward_n, done_n, _ = env.step(action_n)
            sums += reward_n
            for index in np.flatnonzero(done_n):
                returns[names[index]].append(float(sums[index]))
                sums[index] = 0
    return returns


def draw(path: Path, scores: list[list[float]], returns: dict[str, list[float]]) -> None:
    figure = Figure(figsize=(9, 4), layout="constrained")
    learned, played = figure.subplots(1, 2)
    learned.plot(range(1, len(scores) + 1), scores, ".-", label=KEYS)
    learned.set(xlabel="epochs", ylabel="F1", title="How well the clone predicts keys")
    learned.legend()
    played.boxplot(list(returns.values()), tick_labels=list(returns), whis=(0, 100))
    played.set(ylabel="return", title="Episodes in real time")
    figure.savefig(path, dpi=120)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--dataset", type=Path, help="a LeRobot dataset to learn from; none is recorded then")
    parser.add_argument("--lerobot", action="store_true", help="read the dataset with lerobot's own loader")
    parser.add_argument("--out", type=Path, default=Path("clone"), help="a new folder; default: %(default)s")
    parser.add_argument("--remotes", type=int, default=2, help="games of each agent; default: %(default)s")
    parser.add_argument("--minutes", type=float, default=10, help="of play to record; default: %(default)s")
    parser.add_argument("--epochs", type=int, default=14, help="default: %(default)s")
    parser.add_argument("--episodes", type=int, default=5, help="to play in each game; default: %(default)s")
    parser.add_argument("--curve", type=Path, default=Path("clone.png"), help="default: %(default)s")
    options = parser.parse_args()
    torch.set_num_threads(1)  # leave the other cores to the games
    if options.dataset is None:
        record(options.out / "recording", options.remotes, 60 * options.minutes / options.remotes)
        export([Recording(options.out / "recording")], options.out / "dataset", fps=STEP_RATE)
    pictures, held = load(options.dataset or options.out / "dataset", options.lerobot)
    model, scores = learn(pictures, held, options.epochs)
    print("F1 on the last tenth of the rows:", *map("{} {:.2f}".format, KEYS, scores[-1]))
    returns = play({"teacher": drive, "clone": model.keys}, options.remotes, options.episodes)
    for name, values in returns.items():
        print(f"{name}: {len(values)} episodes, mean return {np.mean(values):.1f}")
    draw(options.curve, scores, returns)


if __name__ == "__main__":
    main()
