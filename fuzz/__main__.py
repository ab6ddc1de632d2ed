"""Fuzz the parsers for some seconds each: `python -m fuzz [TARGET ...] [--seconds 15] [--jobs 2]`.

libFuzzer starts with the inputs of fuzz/corpus and mutates them. An input that breaks a parser, takes longer than
`SLOWEST` or more memory than `MOST_MEMORY` is printed with the command that repeats it, and the exit code is 1.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from rewarder.cli.option_types import count

ROOT = Path(__file__).parents[1]
CRATE = ROOT / "fuzz" / "core"
CORPUS = ROOT / "fuzz" / "corpus"
FOUND = ROOT / "build" / "fuzz"
"""The inputs that runs on this machine have found: a folder for each target, and beside it the inputs that broke it."""
RUST = ("connection", "decoder", "handshake", "inflate", "jpeg")
PYTHON = (
    "addresses", "captures", "messages", "portable-handshake", "recorder", "rewarder-client", "rewarder-server",
    "viewer-gate", "vnc-server",
)  # fmt: skip
SLOWEST = 10
"""The longest time for one input, in seconds."""
MOST_MEMORY = 1024
"""The memory of the whole process, fuzzer included, in MiB. The Rust targets also limit that of a connection."""

_INSTRUMENTS = " ".join(
    (
        "-Cpasses=sancov-module",
        "-Cllvm-args=-sanitizer-coverage-level=4",
        "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
        "-Cllvm-args=-sanitizer-coverage-pc-table",
        "-Cllvm-args=-sanitizer-coverage-trace-compares",
        "-Zsanitizer=address",
    )
)
_SHOWN = 400  # bytes of an input that are printed


@dataclass(frozen=True)
class Outcome:
    """The result of one target."""

    target: str
    output: str
    broken_by: tuple[Path, ...]
    ended_well: bool

    @property
    def line(self) -> str:
        """One line: the number of inputs, the coverage, and whether the target passed."""
        tried = re.findall(r"^stat::number_of_executed_units: (\d+)", self.output, re.MULTILINE)
        reached = re.findall(r"\bcov: (\d+)", self.output)
        verdict = "ok" if self.ended_well else "BROKEN"
        inputs = f"{int(tried[-1]) if tried else 0:,} inputs"
        return f"{self.target:18} {inputs:>18}, {reached[-1] if reached else 0:>5} places reached  {verdict}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the targets of the command line; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"of {', '.join(RUST + PYTHON)}")
    parser.add_argument("--seconds", type=count, default=15, help="seconds for each target (default: 15)")
    parser.add_argument(
        "--jobs", type=count, default=os.cpu_count() or 1, help="targets that run at the same time"
    )
    parser.add_argument("--seed", type=count, help="seed of the mutations (default: random)")
    options = parser.parse_args(arguments)
    targets = tuple(options.targets) or RUST + PYTHON
    if unknown := set(targets) - {*RUST, *PYTHON}:
        parser.error(f"unknown target {sorted(unknown)[0]!r}; the targets are {', '.join(RUST + PYTHON)}")
    if set(targets) & set(RUST):
        build()
    flags = [f"-max_total_time={options.seconds}", *([f"-seed={options.seed}"] if options.seed else [])]
    with ThreadPoolExecutor(options.jobs) as pool:
        outcomes = pool.map(lambda target: fuzz(target, flags), targets)
        broken = [outcome for outcome in outcomes if not report(outcome)]
    return 1 if broken else 0


def build() -> None:
    """Build the Rust targets with the stable compiler; RUSTC_BOOTSTRAP enables its unstable flags for sanitizers."""
    lock = (ROOT / "vnc" / "core" / "Cargo.lock").read_bytes()
    (CRATE / "Cargo.lock").write_bytes(lock)  # the same versions of the dependencies as in the core
    environment = {**os.environ, "RUSTC_BOOTSTRAP": "1", "RUSTFLAGS": _INSTRUMENTS}
    # With --target, build scripts are built without the instrumentation.
    command = ["cargo", "build", "--quiet", "--release", "--target", _host()]
    subprocess.run(command, cwd=CRATE, env=environment, check=True)


def _host() -> str:
    words = subprocess.run(["rustc", "-vV"], capture_output=True, text=True, check=True).stdout
    return words.partition("\nhost: ")[2].partition("\n")[0]


def command(target: str) -> list[str]:
    """Return the command that runs a target; libFuzzer's flags, inputs and folders follow."""
    if target in RUST:
        return [str(CRATE / "target" / _host() / "release" / target)]
    return [sys.executable, "-m", "fuzz.python", target]


def fuzz(target: str, flags: Sequence[str]) -> Outcome:
    """Run one target."""
    found, began = FOUND / target, time.time()
    found.mkdir(parents=True, exist_ok=True)
    bounds = [f"-timeout={SLOWEST}", f"-rss_limit_mb={MOST_MEMORY}", f"-artifact_prefix={FOUND / target}."]
    folders = [str(found), str(CORPUS / target)]
    done = subprocess.run(
        [*command(target), *flags, *bounds, "-print_final_stats=1", *folders],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
    )  # fmt: skip
    inputs = tuple(path for path in sorted(FOUND.glob(f"{target}.*")) if path.stat().st_mtime >= began - 1)
    return Outcome(target, done.stdout.decode(errors="replace"), inputs, done.returncode == 0)


def report(outcome: Outcome) -> bool:
    """Print the result of a target; return whether it passed."""
    print(outcome.line, flush=True)
    if outcome.ended_well:
        return True
    print("\n".join(outcome.output.splitlines()[-60:]))
    for path in outcome.broken_by:
        data = path.read_bytes()
        print(f"\n{outcome.target} is broken by {len(data)} bytes: {data[:_SHOWN]!r}")
        print(f"try again: {shlex.join([*command(outcome.target), str(path)])}", flush=True)
    return False


if __name__ == "__main__":
    sys.exit(main())
