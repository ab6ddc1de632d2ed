"""Results of a row, as lines of the table and as ratios."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping
from dataclasses import dataclass, field

from benchmarks.report import Table

COLUMNS = ["what", "measure", "before", "now", "now ÷ before", "peer", "now ÷ peer", "goal"]


@dataclass(frozen=True, slots=True)
class Result:
    """One measure of a row: its value in each round, by side ("before", "now" and peers)."""

    title: str
    measure: str
    goal: str
    rounds: Mapping[str, list[float]]
    peer: str | None = None
    notes: list[str] = field(default_factory=list)

    def cells(self) -> list[str]:
        """Return the cells of COLUMNS."""
        shown = [self._median("before"), self._median("now"), self._ratio("before")]
        peer = [f"{self._median(self.peer)} ({self.peer})", self._ratio(self.peer)] if self.peer else ["", ""]
        return [self.title, self.measure, *shown, *peer, self.goal]

    def _median(self, side: str) -> str:
        values = self.rounds.get(side)
        return _short(statistics.median(values)) if values else "-"

    def _ratio(self, side: str) -> str:
        """Return the median of the ratios of the rounds."""
        pairs = list(zip(self.rounds.get("now", ()), self.rounds.get(side, ()), strict=False))
        return f"{statistics.median(now / other for now, other in pairs):.2f}" if pairs else "-"


def table(results: list[Result], commit: str, rounds: int) -> Table:
    title = f"The whole machine; before is commit {commit}, medians of {rounds} rounds"
    return Table(title, list(COLUMNS), [result.cells() for result in results])


def _short(value: float) -> str:
    """Return a number with three significant digits."""
    digits = 2 - math.floor(math.log10(abs(value))) if value else 0
    return f"{value:,.{max(digits, 0)}f}"
