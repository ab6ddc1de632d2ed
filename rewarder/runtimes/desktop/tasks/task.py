"""What a desktop task is: it sets up a desk, says what to do, and sees whether it is done."""

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
"""Bytes of a file that are looked at: it is the agent's, and may be endless."""


def content(path: Path) -> str | None:
    """Return the text of a file of a task; None if it is none that can be read, or too long."""
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
    """What a look at the desk found."""

    reward: float = 0.0
    done: bool = False
    reason: str | None = None
    """Why it is over."""


GOING = Outcome()
SOLVED = Outcome(1.0, True, "solved")


def failed(reason: str) -> Outcome:
    """The task cannot be solved any more."""
    return Outcome(-1.0, True, reason)


class Task:
    """One episode's task; subclass it.

    The random numbers decide its particulars, in the same way for the same seed.
    """

    seconds: ClassVar[float] = 60.0
    """The time limit."""

    def __init__(self, desk: Desk, random: Random) -> None:
        self.desk = desk
        self.random = random

    def prepare(self) -> str:
        """Set up the desk, which is empty; return the instruction."""
        raise NotImplementedError

    def check(self, elapsed: float) -> Outcome:
        """See what was done, `elapsed` seconds after the beginning; called at every tick."""
        raise NotImplementedError
