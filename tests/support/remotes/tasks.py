"""Solve tasks as an agent does, from pixels and text."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rewarder.runtimes.desktop.tasks.task import COLOURS
from tests.support.remotes.agent import Step, is_done, one_step, until

QUERY_HEIGHT, WIDTH, HEIGHT = 50, 160, 210
"""A MiniWoB++ page: the height of its instruction, and its size."""


def instruction(env: Any) -> tuple[NDArray[np.uint8], str]:
    """Return the newest pixels and the text of their episode, which may arrive a step later."""
    texts: list[str] = []

    def told(step: Step) -> bool:
        texts.extend((step.observation or {"text": []})["text"])
        return bool(texts) and step.observation is not None

    return until(env, told, 60)[-1].observation["vision"], texts[-1]


def result(env: Any, action: list[Any]) -> tuple[float, dict[str, Any]]:
    """Act, and step until the episode ends; return the rewards from now on and the last info."""
    steps = [one_step(env, [action])]
    steps += [] if steps[-1].done else until(env, is_done)
    return sum(step.reward for step in steps), steps[-1].info


def middle(vision: NDArray[np.uint8], colour: str) -> tuple[int, int]:
    """Return the middle of the square of this colour in a desktop task."""
    rgb = [COLOURS[colour] >> shift & 0xFF for shift in (16, 8, 0)]
    rows, columns = np.nonzero((vision == rgb).all(axis=2))
    return int(np.median(columns)), int(np.median(rows))


def button(vision: NDArray[np.uint8]) -> tuple[int, int]:
    """Return the middle of the page's grey button. The edge of the pointer may be grey, too."""
    task = vision[QUERY_HEIGHT:HEIGHT, :WIDTH].astype(int)
    rows, columns = np.nonzero((abs(task - 239).max(axis=2) <= 2) | (abs(task - 229).max(axis=2) <= 2))
    return int(np.median(columns)), int(np.median(rows)) + QUERY_HEIGHT
