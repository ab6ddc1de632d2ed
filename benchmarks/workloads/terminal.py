"""A full-screen xterm in which a program prints a screen of coloured text ten times per second."""

from __future__ import annotations

import os
import random
import sys
import time

from benchmarks.workloads.page import WORDS

_LINES_A_BURST = 59
_BURSTS_A_SECOND = 10


def main() -> None:
    if len(sys.argv) == 2:
        program = [sys.executable, "-m", "benchmarks.workloads", "terminal", "inside"]
        os.execvp(
            "xterm",
            ["xterm", "-b", "0", "-bg", "black", "-fg", "gray90", "-geometry", "170x59+0+0", "-e", *program],
        )
    _print()


def _print() -> None:
    chance = random.Random(1)
    due = time.monotonic()
    number = 0
    while True:
        for _ in range(_LINES_A_BURST):
            number += 1
            words = " ".join(f"\033[{chance.randrange(30, 38)}m{chance.choice(WORDS)}" for _ in range(24))
            print(f"\033[1;33m{number:6d}\033[0m {words}\033[0m")
        sys.stdout.flush()
        due += 1 / _BURSTS_A_SECOND
        time.sleep(max(due - time.monotonic(), 0))
