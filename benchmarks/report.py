"""Results of a benchmark: tables for the console and a line in results.jsonl."""

from __future__ import annotations

import json
import os
import platform
import re
import time
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console
from rich.table import Table as RichTable

RESULTS = Path(__file__).parent / "results.jsonl"


@dataclass(slots=True)
class Table:
    """A table whose cells are formatted text."""

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
class Report:
    """The tables of one run of a benchmark."""

    tables: list[Table]
    summary: str = ""
    machine: str = field(default_factory=lambda: _machine())
    time: str = field(default_factory=lambda: time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()))

    def show(self, console: Console) -> None:
        for table in self.tables:
            console.print(table.rich())
        if self.summary:
            console.print(self.summary, highlight=False)

    def append(self, benchmark: str) -> None:
        """Append the run to results.jsonl."""
        tables = {table.title: [table.columns, *table.rows] for table in self.tables}
        line = {"benchmark": benchmark, "time": self.time, "machine": self.machine, "tables": tables}
        with RESULTS.open("a") as file:
            file.write(json.dumps({**line, "summary": self.summary}) + "\n")


def newest() -> dict[str, Report]:
    """Return the newest run of each benchmark in results.jsonl."""
    reports = {}
    for text in RESULTS.read_text().splitlines():
        line = json.loads(text)
        tables = [Table(title, rows[0], rows[1:]) for title, rows in line["tables"].items()]
        reports[line["benchmark"]] = Report(tables, line["summary"], line["machine"], line["time"])
    return reports


def _machine() -> str:
    """Return the processor, the number of cores, and the kernel."""
    model = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    return f"{os.cpu_count()} x {model[1] if model else platform.machine()}, Linux {platform.release()}"
