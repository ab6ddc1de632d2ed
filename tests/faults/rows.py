"""The rows of the fault table in docs/reliability.md, and the results of a run of tests/faults."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from rich.table import Table

DOCUMENT = Path(__file__).parents[2] / "docs" / "reliability.md"
NEEDS_DOCKER = frozenset({"F33", "F45", "F46"})
ANY = ""  # stands for the driver in tests that use none


def titles() -> dict[str, str]:
    """Read the title of every row, in the order of the page."""
    return dict(re.findall(r"^\| (F\d+) \| (.+?) \|", DOCUMENT.read_text(), re.MULTILINE))


@dataclass(frozen=True)
class Measure:
    """A figure and its bounds; None for no bound."""

    what: str
    value: Any
    at_most: float | None = None
    at_least: float | None = None
    equals: Any = None
    unit: str = ""

    @property
    def held(self) -> bool:
        return (
            (self.at_most is None or self.value <= self.at_most)
            and (self.at_least is None or self.value >= self.at_least)
            and (self.equals is None or self.value == self.equals)
        )

    @property
    def bound(self) -> str:
        bounds = (("≤", self.at_most), ("≥", self.at_least), ("=", self.equals))
        return " and ".join(f"{sign} {_shown(bound)}" for sign, bound in bounds if bound is not None)

    def worse_of(self, other: Measure) -> Measure:
        """Return the figure that is nearer to breaking the bounds, which are the same."""
        if not (self.held and other.held):
            return other if self.held else self
        if self.at_most is not None:
            return max(self, other, key=lambda measure: measure.value)
        return min(self, other, key=lambda measure: measure.value) if self.at_least is not None else self

    def __str__(self) -> str:
        unit = f" {self.unit}" if self.unit else ""
        return f"{self.what}: {_shown(self.value)}{unit} ({self.bound}{unit})"


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float) and abs(value) < 1000:
        return f"{value:.3g}"
    return f"{value:,}" if isinstance(value, int | float) else str(value)


@dataclass
class Result:
    """The results of the tests of one row on one driver."""

    passed: int = 0
    broken: list[str] = field(default_factory=list)
    measures: dict[tuple[Any, ...], Measure] = field(default_factory=dict)

    @property
    def verdict(self) -> str:
        return "BROKEN" if self.broken else "held" if self.passed else "not run"

    def add(self, measure: Measure) -> None:
        key = (measure.what, measure.bound, measure.unit)
        known = self.measures.get(key)
        self.measures[key] = measure if known is None else known.worse_of(measure)


class Results:
    """A pytest plugin that collects the reports of tests with the marker, also from worker processes."""

    def __init__(self) -> None:
        self.rows: dict[tuple[str, str], Result] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        for row, driver in (value for name, value in report.user_properties if name == "fault"):
            result = self.rows.setdefault((row, driver), Result())
            if report.failed:
                result.broken.append(report.nodeid)
            elif report.when == "call" and report.passed:
                result.passed += 1
            if report.when == "teardown":
                self._measured(result, report.user_properties)

    def _measured(self, result: Result, properties: Iterable[tuple[str, Any]]) -> None:
        for name, value in properties:
            if name == "measure":
                result.add(Measure(**value))

    def of(self, row: str) -> Mapping[str, Result]:
        """The results of a row by driver."""
        return {driver: result for (of, driver), result in sorted(self.rows.items()) if of == row}

    def unheld(self, with_docker: bool) -> list[str]:
        """Return the rows that failed or that no test covered."""
        missing = [
            row
            for row in titles()
            if (with_docker or row not in NEEDS_DOCKER)
            and not any(result.passed for result in self.of(row).values())
        ]
        broken = [row for (row, _), result in self.rows.items() if result.broken]
        return sorted({*missing, *broken}, key=lambda row: int(row[1:]))

    def table(self, with_docker: bool, width: int) -> str:
        """Return a table of all rows: title, and for each driver the figures and the result."""
        table = Table("row", "fault", "driver", "measured (bound)", "verdict", box=None, pad_edge=False)
        for row, title in titles().items():
            absent = "needs Docker" if row in NEEDS_DOCKER and not with_docker else "not run"
            for driver, result in (self.of(row) or {ANY: None}).items():
                measures = "\n".join(map(str, result.measures.values())) if result else ""
                table.add_row(row, title, driver, measures, result.verdict if result else absent)
        stream = io.StringIO()
        Console(file=stream, width=width, markup=False, highlight=False).print(table)
        return stream.getvalue()
