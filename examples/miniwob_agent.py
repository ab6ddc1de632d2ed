"""A scripted agent for MiniWoB++ tasks that uses only the screen, the instruction, the mouse and the keyboard.

    pip install '.[browser]' pillow        # and: apt install chromium tigervnc-standalone-server
    python examples/miniwob_agent.py                     # all tasks below, 10 episodes each
    python examples/miniwob_agent.py click-test chase-circle --episodes 3

It has no access to the page: it receives pixels and the text of the instruction. A policy is a generator. It receives
the first screen as an argument, yields the events to send, and receives the next screen from `yield`. The policies
recognize colours, edges and letters; nothing is learned.
"""

from __future__ import annotations

import argparse
import math
import re
import statistics
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageColor, ImageDraw, ImageFont

import universe_client
from universe_client import click, move, type_text
from universe_client.providers import ProcessProvider

Screen = npt.NDArray[np.uint8]
Mask = npt.NDArray[np.bool_]
Policy = Generator[list[Any], Screen, None]
TOP, BOTTOM, RIGHT = 50, 210, 160
"""The page is 160 pixels wide and 210 high; the upper 50 rows contain the instruction."""
PARKED, PARKED_SECONDS = (200, 190), 0.06
"""A point outside the page for the pointer, and the time until a page has redrawn what the pointer left."""
POLICIES: dict[str, Callable[[Screen, str], Policy]] = {}


def plays(*tasks: str) -> Callable[[Callable[[Screen, str], Policy]], Callable[[Screen, str], Policy]]:
    def register(policy: Callable[[Screen, str], Policy]) -> Callable[[Screen, str], Policy]:
        POLICIES.update(dict.fromkeys(tasks, policy))
        return policy

    return register


# -- seeing -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Box:
    x: int
    y: int
    width: int
    height: int
    pixels: int
    inside: tuple[int, int]
    """A point of the part itself, because another part may cover the middle of the box."""

    @property
    def middle(self) -> tuple[int, int]:
        return self.x + self.width // 2, self.y + self.height // 2

    def holds(self, point: tuple[int, int]) -> bool:
        return self.x <= point[0] < self.x + self.width and self.y <= point[1] < self.y + self.height


def of_colour(screen: Screen, colour: tuple[int, ...], tolerance: int = 2) -> Mask:
    mask: Mask = np.asarray((np.abs(screen.astype(int) - colour[:3]) <= tolerance).all(axis=2))
    mask[:TOP] = False
    return mask


def dark(screen: Screen) -> Mask:
    mask: Mask = screen.max(axis=2) < 70
    mask[:TOP] = False
    return mask


def blobs(mask: Mask) -> list[Box]:
    """Return the connected parts of a mask in reading order, joined from runs of pixels that touch."""
    runs: list[tuple[int, int, int]] = []  # y, first x, last x + 1
    parent: list[int] = []

    def root(run: int) -> int:
        while parent[run] != run:
            run = parent[run]
        return run

    above: list[int] = []
    for y, row in enumerate(np.pad(mask, ((0, 0), (1, 1)))):
        edges = np.flatnonzero(row[1:] != row[:-1]).tolist()
        here = []
        for start, end in zip(edges[::2], edges[1::2], strict=True):
            runs.append((y, start, end))
            parent.append(len(parent))
            here.append(len(parent) - 1)
            for other in above:
                if runs[other][1] <= end and start <= runs[other][2]:
                    parent[root(other)] = root(here[-1])
        above = here
    parts: dict[int, list[tuple[int, int, int]]] = {}
    for run in range(len(runs)):
        parts.setdefault(root(run), []).append(runs[run])
    return sorted((_box(part) for part in parts.values()), key=lambda box: (box.y, box.x))


def _box(part: list[tuple[int, int, int]]) -> Box:
    rows, starts, ends = zip(*part, strict=True)
    x, y = min(starts), min(rows)
    pixels = sum(end - start for _, start, end in part)
    row, start, end = max(part, key=lambda run: run[2] - run[1])
    return Box(x, y, max(ends) - x, max(rows) + 1 - y, pixels, ((start + end) // 2, row))


def buttons(screen: Screen) -> list[Box]:
    return [
        box
        for box in blobs(of_colour(screen, (239, 239, 239)))
        if box.pixels > 100 and min(box.width, box.height) > 4
    ]


def fields(screen: Screen) -> list[Box]:
    """Return the text fields: thin grey frames that are empty inside."""
    frames = [
        box for box in blobs(of_colour(screen, (118, 118, 118), 12)) if box.width > 25 and box.height > 10
    ]
    return [box for box in frames if screen[box.y + 4, box.x + box.width - 6].min() > 250]


def dots(mask: Mask, screen: Screen) -> list[tuple[int, int]]:
    """Return the centres of small discs, even if thin lines join them, without the letters on buttons."""
    inner = mask.copy()
    for dy in (-1, 0, 1):
        for dx in (-1, 0, 1):
            inner &= np.roll(mask, (dy, dx), (0, 1))
    middles = [box.middle for box in blobs(inner)]
    return [middle for middle in middles if not any(box.holds(middle) for box in buttons(screen))]


def written(screen: Screen, box: Box) -> npt.NDArray[np.float64]:
    """Return the darkness (0 to 1) of the text in a box, cropped to the text."""
    inside = screen[box.y + 1 : box.y + box.height - 1, box.x + 1 : box.x + box.width - 1]
    return _cut((239.0 - inside.mean(axis=2)).clip(0) / 239)


def likeness(ink: npt.NDArray[np.float64], text: str) -> float:
    """Return how similar `ink` is to `text` drawn in the font of buttons."""
    font = ImageFont.truetype("LiberationSans-Regular.ttf", 13)
    image = Image.new("L", (160, 30))
    ImageDraw.Draw(image).text((4, 4), text, 255, font)
    drawn = _cut(np.asarray(image) / 255)
    height, width = (max(a, b) for a, b in zip(ink.shape, drawn.shape, strict=True))
    one, other = (np.pad(a, ((0, height - a.shape[0]), (0, width - a.shape[1]))) for a in (ink, drawn))
    together = float((one * other).sum() / (np.linalg.norm(one) * np.linalg.norm(other) + 1e-9))
    return together - 0.05 * abs(int(ink.shape[1]) - int(drawn.shape[1]))


def _cut(ink: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    rows, columns = np.flatnonzero(ink.max(axis=1) > 0.3), np.flatnonzero(ink.max(axis=0) > 0.3)
    return ink[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1] if len(rows) else np.zeros((1, 1))


def quoted(text: str) -> list[str]:
    return re.findall(r'"([^"]*)"', text)


def submit(screen: Screen) -> list[Any]:
    """Click the lowest button."""
    return click(*max(buttons(screen), key=lambda box: box.y).middle)


# -- clicking -----------------------------------------------------------------------------------------------------


@plays("click-test")
def the_button(screen: Screen, text: str) -> Policy:
    yield click(*buttons(screen)[0].middle)


@plays("click-test-2", "click-button")
def the_button_named(screen: Screen, text: str) -> Policy:
    name = quoted(text)[0] if quoted(text) else text.split()[-1].rstrip(".")
    unlike = {"ONE": "TWO", "TWO": "ONE"}.get(name, "")
    inks = [(written(screen, box), box) for box in buttons(screen)]
    yield click(*max((likeness(ink, name) - likeness(ink, unlike), box.inside) for ink, box in inks)[1])


@plays("focus-text", "focus-text-2")
def the_field(screen: Screen, text: str) -> Policy:
    nth = re.search(r"(\d)(st|nd|rd)", text)
    yield click(*fields(screen)[int(nth[1]) - 1 if nth else 0].middle)


@plays("click-tab")
def the_tab(screen: Screen, text: str) -> Policy:
    faces = of_colour(screen, (246, 246, 246)) | of_colour(screen, (0, 127, 255))
    tabs = [box for box in blobs(faces) if 30 < box.width < 60 and box.height > 15]
    tabs.sort(key=lambda box: box.x)
    yield click(*tabs[int(text.rstrip(".")[-1]) - 1].middle)


@plays("click-color")
def the_colour(screen: Screen, text: str) -> Policy:
    colour = ImageColor.getrgb(text.split()[3])
    boxes = [box for box in blobs(dark(screen)) if box.width > 30]
    yield click(*next(box.middle for box in boxes if of_colour(screen, colour)[box.middle[::-1]]))


@plays("click-shades")
def the_shades(screen: Screen, text: str) -> Policy:
    channel = ("red", "green", "blue").index(text.split()[5])
    coloured = screen.max(axis=2).astype(int) - screen.min(axis=2) > 8
    coloured[:TOP] = False
    for box in blobs(coloured):
        x, y = box.middle
        if 8 < box.width < 25 and int(screen[y, x].argmax()) == channel:
            yield click(x, y)
    yield submit(screen)


@plays("grid-coordinate")
def the_coordinate(screen: Screen, text: str) -> Policy:
    across, up = (int(number) for number in re.findall(r"-?\d", text))
    xs, ys = zip(*dots(of_colour(screen, (0, 0, 255), 60), screen), strict=True)
    step = (max(xs) - min(xs)) / 4
    yield click(round(min(xs) + (across + 2) * step), round(max(ys) - (up + 2) * step))


# -- geometry -----------------------------------------------------------------------------------------------------


@plays("circle-center")
def the_centre(screen: Screen, text: str) -> Policy:
    ink = screen.max(axis=2) < 160
    ink[:TOP] = ink[buttons(screen)[0].y - 2 :] = False
    rows, columns = np.flatnonzero(ink.any(axis=1)), np.flatnonzero(ink.any(axis=0))
    radius = (columns[-1] - columns[0]) / 2
    yield click(round(columns[0] + radius), round(rows[0] + radius))
    yield submit(screen)


@plays("draw-circle")
def a_circle(screen: Screen, text: str) -> Policy:
    x, y = dots(of_colour(screen, (0, 128, 0), 60), screen)[0]
    turns = [turn * math.pi / 12 for turn in range(25)]
    yield from stroke([(x + 22 * math.cos(turn), y + 22 * math.sin(turn)) for turn in turns])
    yield submit(screen)


def stroke(points: list[tuple[float, float]]) -> Policy:
    """Drag slowly, because a browser merges pointer events that arrive together, and pages then miss the movement."""
    way = [(round(x), round(y)) for x, y in points]
    yield move(*way[0])
    for x, y in way:
        yield from pause(0.02)
        yield move(x, y, 1)
    yield from pause(0.02)
    yield move(*way[-1])
    yield from pause(0.1)


def pause(seconds: float) -> Policy:
    """Send no events for some time."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        yield []


# -- typing -------------------------------------------------------------------------------------------------------


@plays("enter-text", "enter-text-2", "enter-text-dynamic", "enter-password", "login-user")
def the_words(screen: Screen, text: str) -> Policy:
    case = str.upper if "upper case" in text else str.lower if "lower case" in text else str
    words = [case(word) for word in quoted(text)]
    for index, box in enumerate(fields(screen)):
        yield [*click(*box.middle), *type_text(words[min(index, len(words) - 1)])]
    yield submit(screen)


@plays("visual-addition")
def the_sum(screen: Screen, text: str) -> Policy:
    blue = screen[:, :, 2].astype(int) - screen[:, :, 0] > 60
    blue[:TOP] = False
    blocks = [box for box in blobs(blue) if box.pixels > 20]
    yield [*click(*fields(screen)[0].middle), *type_text(str(len(blocks)))]
    yield submit(screen)


# -- in real time -------------------------------------------------------------------------------------------------


@plays("chase-circle")
def the_moving_circle(screen: Screen, text: str) -> Policy:
    while True:
        disc = max(blobs(dark(screen)), key=lambda box: box.pixels, default=None)
        screen = yield move(*disc.middle) if disc else []


@plays("simon-says")
def the_sequence(screen: Screen, text: str) -> Policy:
    still, flashes, lit = screen.astype(int), list[tuple[int, int]](), False
    last = time.monotonic() + 1.5
    while time.monotonic() - last < 1.0:
        changed = np.abs(screen.astype(int) - still).max(axis=2) > 24
        changed[:TOP] = False
        flash = max(blobs(changed), key=lambda box: box.pixels, default=None)
        if flash is not None and flash.pixels > 50:
            last = time.monotonic()
            if not lit:
                flashes.append(flash.middle)
        lit = flash is not None and flash.pixels > 50
        screen = yield []
    for x, y in flashes:
        yield click(x, y)


# -- playing ------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Score:
    rewards: list[float]
    delays: list[float]
    """Seconds from the last events of an episode to its reward."""

    def __str__(self) -> str:
        solved, mean = sum(reward > 0 for reward in self.rewards), statistics.mean(self.rewards)
        delay = statistics.median(self.delays) * 1000 if self.delays else math.nan
        slowest = max(self.delays, default=math.nan) * 1000
        return f"{solved:2}/{len(self.rewards)} solved, reward {mean:5.2f}, {delay:4.0f} ms (slowest {slowest:.0f})"


def play(task: str, episodes: int, seed: int) -> Score:
    """Play episodes of one task in real time."""
    score = Score([], [])
    remotes = ProcessProvider(1, f"browser.{task}", screen_size=(640, 480))
    with universe_client.VectorEnv(f"browser.{task}", remotes) as env:
        env.reset(seed=seed)
        policy: Policy | None = None
        text = ""
        events: list[Any] = []
        sent, began = math.nan, math.nan
        while len(score.rewards) < episodes:
            now = time.monotonic()
            (observation,), (reward,), (done,), _ = env.step([events])
            sent = now if events and not done else sent
            events = []
            if done:
                score.rewards.append(reward or 0.0)
                if sent > began:
                    score.delays.append(time.monotonic() - sent)
                policy, text = None, ""
            elif observation is not None:
                screen = observation["vision"][:BOTTOM, :RIGHT]
                text = (observation["text"] or [text])[0]
                if policy is None and text:
                    began = time.monotonic()
                    policy = solve(task, text)
                    events = next(policy)
                elif policy is not None:
                    events = policy.send(screen)
            if not events:
                time.sleep(0.004)
    return score


def solve(task: str, text: str) -> Policy:
    """Move the pointer away from the page, then follow the policy of the task; stop if it fails."""
    yield move(*PARKED)
    yield from pause(PARKED_SECONDS)
    screen = yield []
    try:
        yield from POLICIES[task](screen, text)
    except (IndexError, ValueError, StopIteration) as error:
        print(f"  the policy failed: {error!r}")
    while True:
        yield []


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tasks", nargs="*", default=list(POLICIES), metavar="TASK", help="default: all tasks")
    parser.add_argument("--episodes", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    for task in options.tasks:
        print(f"{task:20} {play(task, options.episodes, options.seed)}", flush=True)


if __name__ == "__main__":
    main()
