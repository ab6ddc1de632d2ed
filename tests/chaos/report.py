"""The final table of a run, and its violations."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from rich.table import Table

from tests.chaos.books import Breach
from tests.chaos.ledger import Verdict
from tests.chaos.run import Outcome

MEMORY = 0.05
"""The largest growth of memory, as a fraction."""
UPTIME = 0.99
_LONG = 600.0
"""The duration from which on memory and uptime are checked, in seconds. Shorter runs measure the start."""
_MIB = 2**20


def growth(outcome: Outcome) -> float:
    """Return the growth of memory from the first to the last tenth of the run after its warm-up, as a fraction."""
    readings = outcome.memory
    part = max(len(readings) // 10, 1)
    return statistics.median(readings[-part:]) / statistics.median(readings[:part]) - 1 if readings else 0.0


def violations(outcome: Outcome, seconds: float) -> Sequence[str]:
    """Return the names of the violations."""
    broken = [kind for kind, count in outcome.books.breaches.items() if count]
    if outcome.stuck:
        broken.append("remotes that do not come back")
    if outcome.after.descriptors > outcome.before.descriptors:
        broken.append("descriptors")
    if outcome.after.threads > outcome.before.threads:
        broken.append("threads")
    if seconds >= _LONG and growth(outcome) > MEMORY:
        broken.append("memory")
    if seconds >= _LONG and outcome.uptime < UPTIME:
        broken.append("uptime")
    return broken


def closing(outcome: Outcome, seconds: float) -> Table:
    """Return the table of results."""
    books = outcome.books
    table = Table("measure", "value", box=None, title=f"chaos, {seconds:g} s", title_justify="left")
    faults = ", ".join(f"{count} {name}" for name, count in sorted(outcome.faults.items()))
    ends = ", ".join(f"{count} {reason}" for reason, count in sorted(books.ends.items()))
    steps = sorted(outcome.steps)
    rows: list[tuple[str, object]] = [
        (f"{sum(outcome.faults.values()):,} faults", faults),
        (f"{sum(books.ends.values()):,} ends of episodes", ends),
        ("rewards", f"{books.rewards:,}"),
        *((f"rewards {kind}" if kind in set(Verdict) else kind, books.breaches[kind]) for kind in _KINDS),
        ("observations", f"{books.frames:,}"),
        ("uptime outside faults", f"{100 * outcome.uptime:.2f} %"),
        ("step, median / p99 / longest", _milliseconds(steps)),
        ("memory", f"{_course(outcome.memory)} MiB, {100 * growth(outcome):+.1f} %"),
        ("descriptors", f"{outcome.before.descriptors} → {outcome.after.descriptors}"),
        ("threads", f"{outcome.before.threads} → {outcome.after.threads}"),
        ("not back at the end", ", ".join(outcome.stuck) or "none"),
    ]
    for name, value in rows:
        table.add_row(name, str(value))
    return table


_KINDS: tuple[str, ...] = (*Verdict, *Breach)


def _milliseconds(steps: Sequence[float]) -> str:
    places = (len(steps) // 2, len(steps) * 99 // 100, -1)
    return " / ".join(f"{1000 * steps[place]:.1f}" for place in places) + " ms" if steps else "none"


def _course(memory: Sequence[int]) -> str:
    return " → ".join(f"{memory[place] / _MIB:.0f}" for place in (0, len(memory) // 2, -1)) if memory else "?"
