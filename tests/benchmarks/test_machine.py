"""`python -m benchmarks machine`: what it makes of its measurements, and that a side measures its own tree."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from benchmarks.machine import load, suite
from benchmarks.machine.results import Result
from benchmarks.machine.rows import ROWS, Row
from benchmarks.machine.sides import Side, Unable
from benchmarks.machine.workers.names import attribute

_HERE = Path(__file__).parent.parent.parent


def test_ratios_are_medians_of_the_rounds_ratios() -> None:
    result = Result(
        "row",
        "ms",
        "≤ 1",
        {"now": [1.0, 20.0, 3.0], "before": [2.0, 10.0, 30.0], "peer": [4.0, 5.0, 6.0]},
        "peer",
    )
    assert result.cells() == ["row", "ms", "10.0", "3.00", "0.50", "5.00 (peer)", "0.50", "≤ 1"]


def test_a_side_without_values_is_a_dash() -> None:
    assert Result("row", "ms", "", {"now": [1.0]}).cells()[2:5] == ["-", "1.00", "-"]


class _Scripted(Side):
    """A side that returns figures without running anything; None fails."""

    figures: Mapping[str, float] | None

    def run(self, worker: tuple[str, ...]) -> dict[str, float]:
        if self.figures is None:
            raise Unable("no such option")
        return dict(self.figures)


def _scripted(figures: Mapping[str, float] | None) -> Side:
    side = type("_Side", (_Scripted,), {"figures": figures})("python", None)
    assert isinstance(side, Side)
    return side


def test_a_row_that_the_earlier_commit_cannot_run_says_so() -> None:
    row = Row("row", ("module", "function"), "≤ 1")
    sides = {"before": _scripted(None), "now": _scripted({"ms": 2.0, "s": 3.0})}
    first, second = suite._row(row, sides, "", 2, lambda text: None)
    assert first.cells()[2:5] == ["-", "2.00", "-"]
    assert first.notes == ["row: before cannot run it (no such option)."]
    assert (first.goal, second.goal, second.notes) == ("≤ 1", "", [])


def test_the_summary_of_the_load_table() -> None:
    rates = {8: 60.0, 16: 60.0, 24: 50.0, 32: 30.0, 48: 20.0, 64: 10.0}
    found = {count: {"each": rate, "slowest": rate, "in all": rate * count} for count, rate in rates.items()}
    summary = "now: 16 remotes hold 60 frames/s; the best sum is 1200 with 24 remotes, and with 48 it is 0.80 of that."
    assert load._summary("now", found) == summary


def test_every_worker_exists() -> None:
    workers = {worker[:2] for row in ROWS.values() for worker in (row.worker, *row.peers.values())}
    for module, function in workers:
        assert callable(attribute(function, f"benchmarks.machine.workers.{module}"))


def test_names_are_found_where_they_are() -> None:
    assert attribute("VNCServer", "vnc.nowhere.server", "vnc.server.server").__name__ == "VNCServer"
    with pytest.raises(ImportError, match=r"none of vnc\.nowhere has VNCServer"):
        attribute("VNCServer", "vnc.nowhere")


def test_a_worker_refuses_the_package_of_another_tree(tmp_path: Path) -> None:
    with pytest.raises(Unable, match=f"not from {tmp_path}"):
        Side(sys.executable, tmp_path).run(("playing", "as_fast_as_possible"))


def test_the_meter_counts_orphans_too() -> None:
    """Descendants whose parent has ended count, as those of a process that forks remotes do."""
    program = (
        "import subprocess, sys; subprocess.Popen([sys.executable, '-c', 'while True: pass # spinning'])"
    )
    script = f"""
from benchmarks.machine.processes import CpuMeter, adopt_orphans, named, pss
import os, subprocess, sys, time
adopt_orphans()
meter = CpuMeter()
subprocess.run([sys.executable, "-c", {program!r}], check=True)
(spinning,) = named("spinning")
while meter.seconds() < 0.3:
    pass
assert pss([spinning]) > 1
without = CpuMeter(without=[spinning])
os.kill(spinning, 9)
print(without.seconds() < meter.seconds())
"""
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=_HERE, capture_output=True, text=True, timeout=60
    )
    assert done.stdout == "True\n", done.stderr
