"""Fuzz the parsers for some seconds each: `python -m fuzz [TARGET ...] [--seconds 15] [--jobs 2]`.

The inputs of fuzz/corpus come first, then what libFuzzer makes of them. An input that breaks a parser, takes longer
than `SLOWEST` or more memory than `MOST_MEMORY` is printed with the command that tries it again; the exit code is 1.
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
"""What runs on this machine have found: a folder for each target, and the inputs that broke it beside."""
RUST = ("connection", "decoder", "handshake", "inflate", "jpeg")
PYTHON = (
    "addresses", "captures", "messages", "portable-handshake", "recorder", "rewarder-client", "rewarder-server",
    "viewer-gate", "vnc-server",
)  # fmt: skip
SLOWEST = 10
"""Seconds one input may take."""
MOST_MEMORY = 1024
"""MiB of the whole process, the fuzzer's own included; the Rust targets count what a connection holds as well."""

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
    """What became of one target."""

    target: str
    output: str
    broken_by: tuple[Path, ...]
    ended_well: bool

    @property
    def line(self) -> str:
        """The inputs that were tried, and how much of the code they reached."""
        tried = re.findall(r"^stat::number_of_executed_units: (\d+)", self.output, re.MULTILINE)
        reached = re.findall(r"\bcov: (\d+)", self.output)
        verdict = "ok" if self.ended_well else "BROKEN"
        inputs = f"{int(tried[-1]) if tried else 0:,} inputs"
        return f"{self.target:18} {inputs:>18}, {reached[-1] if reached else 0:>5} places reached  {verdict}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"of {', '.join(RUST + PYTHON)}")
    parser.add_argument("--seconds", type=count, default=15, help="for each target (default: 15)")
    parser.add_argument("--jobs", type=count, default=os.cpu_count() or 1, help="targets at a time")
    parser.add_argument("--seed", type=count, help="of the mutations (default: another one each time)")
    options = parser.parse_args(arguments)
    targets = tuple(options.targets) or RUST + PYTHON
    if unknown := set(targets) - {*RUST, *PYTHON}:
        parser.error(f"no target is called {sorted(unknown)[0]!r}: {', '.join(RUST + PYTHON)} are there")
    if set(targets) & set(RUST):
        build()
    flags = [f"-max_total_time={options.seconds}", *([f"-seed={options.seed}"] if options.seed else [])]
    with ThreadPoolExecutor(options.jobs) as pool:
        outcomes = pool.map(lambda target: fuzz(target, flags), targets)
        broken = [outcome for outcome in outcomes if not report(outcome)]
    return 1 if broken else 0


def build() -> None:
    """Build the Rust targets with a stable compiler, which has the sanitizers behind a flag of the unstable ones."""
    lock = (ROOT / "vnc" / "core" / "Cargo.lock").read_bytes()
    (CRATE / "Cargo.lock").write_bytes(lock)  # the same versions of what the core depends on
    environment = {**os.environ, "RUSTC_BOOTSTRAP": "1", "RUSTFLAGS": _INSTRUMENTS}
    # With a target named, build scripts go without the instruments.
    command = ["cargo", "build", "--quiet", "--release", "--target", _host()]
    subprocess.run(command, cwd=CRATE, env=environment, check=True)


def _host() -> str:
    words = subprocess.run(["rustc", "-vV"], capture_output=True, text=True, check=True).stdout
    return words.partition("\nhost: ")[2].partition("\n")[0]


def command(target: str) -> list[str]:
    """What runs a target, before libFuzzer's flags, inputs and folders of them."""
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
    """Print what became of a target; return whether it held."""
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
