"""Results: tables for the console, Markdown and a plot for docs/performance.md, a line for results.jsonl."""

from __future__ import annotations

import json
import os
import platform
import re
import time
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

from rich.console import Console
from rich.table import Table as RichTable

_ROOT = Path(__file__).parent.parent
DOCUMENT = _ROOT / "docs" / "performance.md"
RESULTS = Path(__file__).parent / "results.jsonl"

_COLOURS = ["#2a6fdb", "#b8b8b8", "#3a9a5b", "#d9822b"]
_BAR, _GAP, _LABEL, _SCALE, _HEAD = 9, 8, 300, 300, 44


@dataclass(slots=True)
class Table:
    """A table of finished text."""

    title: str
    columns: list[str]
    rows: list[list[str]] = field(default_factory=list)

    def rich(self) -> RichTable:
        table = RichTable(title=self.title, title_justify="left")
        for number, column in enumerate(self.columns):
            numeric = bool(self.rows) and re.match(r"[\d.n/<>+-]", self.rows[0][number] or "x") is not None
            table.add_column(column, justify="right" if numeric else "left")
        for row in self.rows:
            table.add_row(*row)
        return table

    def markdown(self) -> str:
        lines = [self.columns, ["---"] * len(self.columns), *self.rows]
        return f"**{self.title}**\n\n" + "\n".join(f"| {' | '.join(line)} |" for line in lines)


@dataclass(slots=True)
class Bars:
    """Horizontal bars in groups, for an SVG of few lines."""

    title: str
    series: list[str]
    groups: list[tuple[str, list[float | None]]] = field(default_factory=list)

    def svg(self) -> str:
        height = _HEAD + len(self.groups) * (len(self.series) * _BAR + _GAP) + 10
        largest = max((value or 0 for _, values in self.groups for value in values), default=1)
        most = min(max(largest, 1.0), 2.0)
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{_LABEL + _SCALE + 60}" height="{height}" '
            'font-family="sans-serif" font-size="11">',
            '<rect width="100%" height="100%" fill="white"/>',
            f'<text x="8" y="16" font-size="13">{escape(self.title)}</text>',
            *self._legend(),
            *(line for number in range(len(self.groups)) for line in self._group(number, most)),
        ]
        one = _LABEL + _SCALE / most
        parts.append(
            f'<line x1="{one:.0f}" x2="{one:.0f}" y1="{_HEAD}" y2="{height}" stroke="#888" stroke-dasharray="3"/>'
        )
        return "\n".join([*parts, "</svg>\n"])

    def _legend(self) -> list[str]:
        lines = []
        for number, name in enumerate(self.series):
            x = 8 + 130 * number
            lines.append(f'<rect x="{x}" y="24" width="10" height="10" fill="{_COLOURS[number]}"/>')
            lines.append(f'<text x="{x + 14}" y="33">{escape(name)}</text>')
        return lines

    def _group(self, number: int, most: float) -> list[str]:
        name, values = self.groups[number]
        y = _HEAD + number * (len(self.series) * _BAR + _GAP)
        middle = y + len(self.series) * _BAR / 2 + 4
        lines = [f'<text x="{_LABEL - 8}" y="{middle:.0f}" text-anchor="end">{escape(name)}</text>']
        for series, value in enumerate(values):
            if value is None:
                continue
            width = _SCALE * min(value, most) / most
            top = y + series * _BAR
            lines.append(
                f'<rect x="{_LABEL}" y="{top}" width="{width:.1f}" height="{_BAR - 1}" fill="{_COLOURS[series]}"/>'
            )
            lines.append(f'<text x="{_LABEL + width + 3:.0f}" y="{top + 8}" font-size="9">{value:.2f}</text>')
        return lines


@dataclass(slots=True)
class Report:
    """What one benchmark found."""

    name: str
    about: str
    tables: list[Table]
    summary: str = ""
    bars: Bars | None = None
    document: Path = DOCUMENT

    def show(self, console: Console) -> None:
        for table in self.tables:
            console.print(table.rich())
        if self.summary:
            console.print(self.summary, highlight=False)

    def write(self) -> None:
        """Put the results into their document, between this benchmark's markers, and into results.jsonl."""
        begin, end = f"<!-- begin {self.name} -->", f"<!-- end {self.name} -->"
        body = f"{begin}\n{self._markdown()}\n{end}"
        text = self.document.read_text()
        before, found, rest = text.partition(begin)
        text = before + body + rest.partition(end)[2] if found else f"{text.rstrip()}\n\n{body}\n"
        self.document.write_text(text)
        self._append()

    def _markdown(self) -> str:
        parts = [
            f"## {self.name}",
            self.about.strip(),
            f"`python -m benchmarks {self.name} --write`, on {machine()}.",
        ]
        if self.bars is not None:
            plot = self.document.parent / f"performance-{self.name}.svg"
            plot.write_text(self.bars.svg())
            parts.append(f"![{self.bars.title}]({plot.name})")
        parts += [table.markdown() for table in self.tables]
        return "\n\n".join([*parts, self.summary]).strip()

    def _append(self) -> None:
        tables = {table.title: [table.columns, *table.rows] for table in self.tables}
        line = {"benchmark": self.name, "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}
        with RESULTS.open("a") as file:
            file.write(
                json.dumps({**line, "machine": machine(), "tables": tables, "summary": self.summary}) + "\n"
            )


def machine() -> str:
    """The processor, how many of it, and the kernel."""
    model = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    return f"{os.cpu_count()} x {model[1] if model else platform.machine()}, Linux {platform.release()}"
