"""Decompressors for the core, on the zlib streams of the recorded updates.

There is no socket and no screen. Each codec gets the compressed payloads one by one, as a client does; zlib streams
continue from payload to payload. In each round every codec runs once, and its CPU time is measured. The core uses
`vnc/core/inflate` ("ours"), which keeps no checksum: a checksum follows only the end of a stream, and the zlib streams
of RFB never end. The outputs of the codecs are compared first.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from benchmarks.drivers import floor
from benchmarks.report import Report, Table
from benchmarks.servers.capture import FORMS, ensure, path_of
from benchmarks.workloads.names import WORKLOADS

MOST_UPDATES = 100
LEAST_OUTPUT = 1_000_000
"""Bytes; captures with less output are omitted."""


CODECS = ("ours", "zlib-ng", "zlib-rs", "miniz_oxide")
OURS, *OTHERS = CODECS


@dataclass(slots=True)
class Row:
    """All codecs on one capture."""

    workload: str
    form: str
    updates: int
    output: int
    """Bytes."""
    seconds: dict[str, list[float]]
    """CPU time of each round, by codec."""

    def cost(self, codec: str) -> float:
        """Return ms per update, the median of the rounds."""
        return 1000 * statistics.median(self.seconds[codec]) / self.updates

    def ratio(self, codec: str) -> float:
        """Return the codec's time divided by that of ours, the median of rounds."""
        pairs = zip(self.seconds[codec], self.seconds[OURS], strict=True)
        return statistics.median(theirs / ours for theirs, ours in pairs)


def measure(console: Console, rounds: int) -> Report:
    program = floor.build("codecs")
    if program is None:
        raise SystemExit("codecs needs cargo, cmake, libjpeg's headers and the crates of benchmarks/floor")
    ensure(list(WORKLOADS), console)
    table = Table(
        "Inflating, ms CPU per update (median of rounds)",
        ["workload", "form", "KB of output", *CODECS, *(f"{codec} ÷ {OURS}" for codec in OTHERS)],
    )
    with console.status("measuring"):
        rows = [_row(program, workload, form, rounds) for workload in WORKLOADS for form in ("tight", "zrle")]
    rows = [row for row in rows if row.output >= LEAST_OUTPUT]
    for row in rows:
        names = [WORKLOADS[row.workload], FORMS[row.form].title, f"{row.output / row.updates / 1000:.0f}"]
        costs = [f"{row.cost(codec):.3f}" for codec in CODECS]
        table.rows.append([*names, *costs, *(f"{row.ratio(codec):.2f}" for codec in OTHERS)])
    means = {codec: statistics.geometric_mean(row.ratio(codec) for row in rows) for codec in OTHERS}
    listed = ", ".join(f"{codec} {mean:.2f}" for codec, mean in means.items())
    return Report([table], f"Geometric means of the ratios to ours: {listed}.")


def _row(program: Path, workload: str, form: str, rounds: int) -> Row:
    with tempfile.TemporaryDirectory() as scratch:
        payloads = Path(scratch) / "payloads"
        updates = floor.write_payloads(path_of(workload, form), payloads, MOST_UPDATES)
        command = [str(program), str(rounds), str(payloads)]
        result = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
    return Row(workload, form, updates, result["output"], result["seconds"])
