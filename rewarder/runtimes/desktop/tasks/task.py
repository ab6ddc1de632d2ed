"""The base class of desktop tasks, and the result of a check."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import ClassVar

from rewarder.runtimes.desktop.desk import Desk

WORDS = (
    *("amber", "basil", "cedar", "delta", "ember", "fjord", "grove", "harbor", "indigo"),
    *("jasper", "kettle", "lantern", "maple", "nectar", "onyx", "pepper", "quartz", "river"),
    *("saffron", "timber", "umbra", "velvet", "willow", "yarrow", "zephyr"),
)
COLOURS = {
    "red": 0xE5484D,
    "green": 0x30A46C,
    "blue": 0x3E63DD,
    "yellow": 0xF5D90A,
    "orange": 0xF76B15,
    "purple": 0x8E4EC6,
    "white": 0xF8F8F8,
    "black": 0x111111,
}


MAX_CONTENT = 1 << 20
"""Bytes up to which a file is read; an agent can make it endless."""


def content(path: Path) -> str | None:
    """Return the text of a file; None if it is not a readable regular file, or longer than `MAX_CONTENT`."""
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return None
            data = file.read(MAX_CONTENT + 1)
    except OSError:
        return None
    return data.decode("utf-8", "replace") if len(data) <= MAX_CONTENT else None


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a check: reward, whether the episode ends, and why."""

    reward: float = 0.0
    done: bool = False
    reason: str | None = None
    """Why the episode ends."""


GOING = Outcome()
SOLVED = Outcome(1.0, True, "solved")


def failed(reason: str) -> Outcome:
    """Return the outcome of a task that can no longer be solved."""
    return Outcome(-1.0, True, reason)


class Task:
    """The task of one episode. Subclass it.

    All choices come from `random`, so that equal seeds give equal tasks.
    """

    seconds: ClassVar[float] = 60.0
    """The time limit."""

    def __init__(self, desk: Desk, random: Random) -> None:
        self.desk = desk
        self.random = random

    def prepare(self) -> str:
        """Set up the empty desk; return the instruction."""
        raise NotImplementedError

    def check(self, elapsed: float) -> Outcome:
        """Check the task at a tick, `elapsed` seconds after the beginning."""
        raise NotImplementedError
