"""The decompressors and JPEG decoders there are for the core, on the compressed data of the recorded streams.

No socket and no screen: each gets what a server compressed, payload by payload as a client would hand it over, with
zlib streams that go on from one to the next; in each round every codec has its turn, and what counts is its CPU time.
Ours are `vnc/core/inflate`, which inflates behind its own history and keeps no checksum (a stream never gets to where
one could be compared), and `vnc/core/jpeg`. The others are measured as zlib decompressors, and once more as such of
bare deflate, without checksum. libdeflate is a bound and no choice: it can only do a stream as a whole. What the codecs
write is compared before: zlib streams by their checksums, JPEG pixel by pixel, where rounding may differ.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from benchmarks.drivers import floor
from benchmarks.report import Report, Table
from benchmarks.servers.capture import FORMS, ensure, path_of
from benchmarks.workloads.names import WORKLOADS

MOST_UPDATES = 100
LEAST_OUTPUT = 1_000_000
"""Bytes; captures with less of it say nothing."""


@dataclass(frozen=True, slots=True)
class Kind:
    """What is decoded."""

    title: str
    forms: Sequence[str]
    codecs: Sequence[str]


_INFLATE = ("ours", "zlib-ng", "zlib-rs", "miniz_oxide", "libdeflate")
KINDS = {
    "zlib": Kind("Inflating", ("tight", "zrle"), _INFLATE),
    "deflate": Kind("Inflating, nobody with a checksum", ("tight", "zrle"), _INFLATE),
    "jpeg": Kind("Decoding JPEG", ("tight-q8",), ("ours", "libjpeg-turbo", "zune-jpeg")),
}


@dataclass(slots=True)
class Row:
    """All codecs on one capture."""

    workload: str
    form: str
    updates: int
    output: int
    """Bytes."""
    seconds: dict[str, list[float]]
    """Of each round, by codec."""

    def cost(self, codec: str) -> float:
        """ms per update, the median of rounds."""
        return 1000 * statistics.median(self.seconds[codec]) / self.updates

    def ratio(self, codec: str) -> float:
        """How many times as long as ours, the median of rounds."""
        pairs = zip(self.seconds[codec], self.seconds["ours"], strict=True)
        return statistics.median(theirs / ours for theirs, ours in pairs)


def measure(console: Console, rounds: int) -> Report:
    program = floor.build("codecs")
    if program is None:
        raise SystemExit("codecs needs cargo, cmake, libjpeg's headers and the crates of benchmarks/floor")
    ensure(list(WORKLOADS), console)
    with console.status("measuring"):
        found = {kind: _rows(program, kind, rounds) for kind in KINDS}
    tables = [_table(KINDS[kind], measured) for kind, measured in found.items()]
    means = [f"- {KINDS[kind].title}: {_means(KINDS[kind], measured)}" for kind, measured in found.items()]
    summary = "\n".join(["Geometric means of the ratios to ours:\n", *means])
    return Report(tables, summary)


def _rows(program: Path, kind: str, rounds: int) -> list[Row]:
    forms = KINDS[kind].forms
    rows = [_row(program, kind, workload, form, rounds) for workload in WORKLOADS for form in forms]
    return [row for row in rows if row.output >= LEAST_OUTPUT]


def _row(program: Path, kind: str, workload: str, form: str, rounds: int) -> Row:
    with tempfile.TemporaryDirectory() as scratch:
        payloads = Path(scratch) / "payloads"
        updates = floor.write_payloads(
            path_of(workload, form), payloads, jpeg=kind == "jpeg", updates=MOST_UPDATES
        )
        command = [str(program), kind, str(rounds), str(payloads)]
        result = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
    return Row(workload, form, updates, result["output"], result["seconds"])


def _table(kind: Kind, rows: Sequence[Row]) -> Table:
    others = kind.codecs[1:]
    table = Table(
        f"{kind.title}, ms CPU per update (median of rounds)",
        ["workload", "form", "KB of output", *kind.codecs, *(f"{codec} ÷ ours" for codec in others)],
    )
    for row in rows:
        names = [WORKLOADS[row.workload], FORMS[row.form].title, f"{row.output / row.updates / 1000:.0f}"]
        costs = [f"{row.cost(codec):.3f}" for codec in kind.codecs]
        table.rows.append([*names, *costs, *(f"{row.ratio(codec):.2f}" for codec in others)])
    return table


def _means(kind: Kind, rows: Sequence[Row]) -> str:
    means = {codec: statistics.geometric_mean(row.ratio(codec) for row in rows) for codec in kind.codecs[1:]}
    return ", ".join(f"{codec} {mean:.2f}" for codec, mean in means.items())
