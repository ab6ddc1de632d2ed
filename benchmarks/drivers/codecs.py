"""Decompressors and JPEG decoders for the core, on the compressed data of the recorded streams.

There is no socket and no screen. Each codec gets the compressed payloads one by one, as a client does; zlib streams
continue from payload to payload. In each round every codec runs once, and its CPU time is measured. The core uses
`vnc/core/inflate` ("ours") and zune-jpeg. `inflate` keeps no checksum, because the zlib streams of RFB never end, and a
checksum follows only the end of a stream. The other decompressors are measured with zlib's checksum, and once more on
bare deflate, without one. libdeflate is a lower bound only: it can only decompress a whole stream at once. The output
of the codecs is compared first: zlib streams by their checksums, JPEG pixel by pixel with a tolerance for rounding.
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
"""Bytes; captures with less output are omitted."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of compressed data, and the codecs for it."""

    title: str
    forms: Sequence[str]
    codecs: Sequence[str]
    """The one that the core uses, then the others."""


_INFLATE = ("ours", "zlib-ng", "zlib-rs", "miniz_oxide", "libdeflate")
KINDS = {
    "zlib": Kind("Inflating", ("tight", "zrle"), _INFLATE),
    "deflate": Kind("Inflating, without checksums", ("tight", "zrle"), _INFLATE),
    "jpeg": Kind("Decoding JPEG", ("tight-q8",), ("zune-jpeg", "libjpeg-turbo")),
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
    """CPU time of each round, by codec."""

    def cost(self, codec: str) -> float:
        """Return ms per update, the median of the rounds."""
        return 1000 * statistics.median(self.seconds[codec]) / self.updates

    def ratio(self, codec: str, used: str) -> float:
        """Return the codec's time divided by that of the one the core uses, the median of rounds."""
        pairs = zip(self.seconds[codec], self.seconds[used], strict=True)
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
    summary = "\n".join(["Geometric means of the ratios to the codec that the core uses:\n", *means])
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
    used, *others = kind.codecs
    table = Table(
        f"{kind.title}, ms CPU per update (median of rounds)",
        ["workload", "form", "KB of output", *kind.codecs, *(f"{codec} ÷ {used}" for codec in others)],
    )
    for row in rows:
        names = [WORKLOADS[row.workload], FORMS[row.form].title, f"{row.output / row.updates / 1000:.0f}"]
        costs = [f"{row.cost(codec):.3f}" for codec in kind.codecs]
        table.rows.append([*names, *costs, *(f"{row.ratio(codec, used):.2f}" for codec in others)])
    return table


def _means(kind: Kind, rows: Sequence[Row]) -> str:
    used, *others = kind.codecs
    means = {codec: statistics.geometric_mean(row.ratio(codec, used) for row in rows) for codec in others}
    return ", ".join(f"{codec} {mean:.2f}" for codec, mean in means.items())
