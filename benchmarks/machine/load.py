"""The table of 8 to 64 NeonDrives: does the machine hold its work when it has too much?"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping

from benchmarks.machine.sides import Figures, Side, Unable
from benchmarks.report import Table

COUNTS = (8, 16, 24, 32, 48, 64)
_HELD = 57.0
"""Frames/s of the slowest remote that count as 60."""
_FIGURES = ("each", "slowest", "in all")


def measure(sides: Mapping[str, Side], rounds: int, advance: Callable[[str], None]) -> tuple[Table, str]:
    """Return the table, and what follows from it."""
    columns = ["remotes", *(f"{side}: {figure}" for side in sides for figure in _FIGURES)]
    table = Table("NeonDrives at 60 frames/s, frames/s that arrive", columns)
    medians: dict[str, dict[int, Figures]] = {side: {} for side in sides}
    for count in COUNTS:
        found: dict[str, list[Figures]] = {name: [] for name in sides}
        for _ in range(rounds):
            for name, side in sides.items():
                advance(f"{count} NeonDrives, {name}")
                found[name] += _run(side, count)
        for name, runs in found.items():
            medians[name][count] = _medians(runs)
        figures = [medians[side].get(count, {}) for side in sides]
        cells = [f"{row[figure]:.1f}" if row else "fails" for row in figures for figure in _FIGURES]
        table.rows.append([str(count), *cells])
    return table, " ".join(_summary(side, found) for side, found in medians.items())


def _run(side: Side, count: int) -> list[Figures]:
    try:
        return [side.run(("load", "neon", str(count)))]
    except Unable:
        return []


def _medians(runs: list[Figures]) -> Figures:
    return {figure: statistics.median(run[figure] for run in runs) for figure in _FIGURES} if runs else {}


def _summary(side: str, found: Mapping[int, Figures]) -> str:
    rows = {count: figures for count, figures in found.items() if figures}
    if not rows:
        return f"{side}: fails."
    held = [count for count, figures in rows.items() if figures["slowest"] >= _HELD]
    best = max(rows, key=lambda count: rows[count]["in all"])
    twice = min((count for count in rows if count >= 2 * best), default=max(rows))
    share = rows[twice]["in all"] / rows[best]["in all"]
    return (
        f"{side}: {max(held, default=0) or 'fewer than 8'} remotes hold 60 frames/s; the best sum is "
        f"{rows[best]['in all']:.0f} with {best} remotes, and with {twice} it is {share:.2f} of that."
    )
