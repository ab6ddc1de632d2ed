"""The right thing to do on each MiniWoB++ page, as a script that can look into it; `SOLVERS` by task name.

A solver gets the page and the number of the attempt: with the same seed, what cannot be known is guessed in turn.
"""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.miniwob.page import Page

Solver = Callable[[Page, int], None]
SOLVERS: dict[str, Solver] = {}
ATTEMPTS = 24


def solves(*tasks: str) -> Callable[[Solver], Solver]:
    def register(solver: Solver) -> Solver:
        SOLVERS.update(dict.fromkeys(tasks, solver))
        return solver

    return register
