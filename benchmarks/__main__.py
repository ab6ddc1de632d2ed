"""Run benchmarks and print their tables: `python -m benchmarks [NAME ...] [--rounds N] [--write]`."""

from __future__ import annotations

import argparse
import subprocess
import sys
import textwrap
from importlib import import_module

from rich.console import Console

from benchmarks import BENCHMARKS, pages
from benchmarks.machine import rows, suite, trees
from benchmarks.report import Report

_ON_DEMAND = ("machine", "cluster", "codecs", "containers", "soak")
_FILE_WIDTH = 200
"""Columns of tables that are written to a file."""
_EPILOG = f"""\
Without a NAME all run, except those that need more than the README installs: machine (an earlier commit, which it
checks out and builds), cluster (the extra ray), codecs (cmake, libjpeg), containers and soak (a Docker daemon and this
package's images).
`python -m benchmarks.pages` draws the pictures and tables of the documentation again, without a measurement.

rows of machine:
{textwrap.fill(", ".join(rows.NAMES), 110, initial_indent="  ", subsequent_indent="  ")}

examples:
  python -m benchmarks machine                                    every row against {suite.COMMIT}: about an hour
  python -m benchmarks machine --rows cartpole-8,pong --rounds 5  two of them
  python -m benchmarks machine --against HEAD~1 --rows start      what the last commit has changed
"""


def main() -> None:
    options = _parse()
    console = Console(width=None if sys.stdout.isatty() else _FILE_WIDTH)
    for name in options.names or [name for name in BENCHMARKS if name not in _ON_DEMAND]:
        console.rule(name)
        console.print(import_module(f"benchmarks.{BENCHMARKS[name]}").__doc__, highlight=False)
        report = _measure(name, console, options)
        report.show(console)
        if options.write:
            report.append(name)
    if options.write:
        pages.write()


def _measure(name: str, console: Console, options: argparse.Namespace) -> Report:
    if name == "machine":
        return suite.measure(
            console, options.rounds, options.against or suite.COMMIT, options.rows or rows.NAMES
        )
    report: Report = import_module(f"benchmarks.{BENCHMARKS[name]}").measure(console, options.rounds)
    return report


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Run benchmarks and print their tables.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(BENCHMARKS)}")
    parser.add_argument("--write", action="store_true", help="append to results.jsonl and draw docs/ again")
    parser.add_argument(
        "--rounds", type=int, default=3, metavar="N", help="of soak: minutes; default: %(default)d"
    )
    machine = parser.add_argument_group("machine")
    machine.add_argument(
        "--against", type=_commit, metavar="COMMIT", help=f"the earlier commit; default: {suite.COMMIT}"
    )
    machine.add_argument("--rows", type=_rows, metavar="ROW,...", help="measure only these rows")
    options = parser.parse_args()
    unknown = [name for name in options.names if name not in BENCHMARKS]
    if unknown:
        parser.error(f"no benchmark is called {unknown[0]!r}")
    if options.rows and options.write:
        parser.error("--write records all rows of machine: leave out --rows")
    return options


def _commit(text: str) -> str:
    try:
        trees.short(text)
    except subprocess.CalledProcessError:
        raise argparse.ArgumentTypeError(f"git knows no commit {text!r} here") from None
    return text


def _rows(text: str) -> list[str]:
    chosen = text.split(",")
    unknown = [name for name in chosen if name not in rows.NAMES]
    if unknown:
        raise argparse.ArgumentTypeError(f"no row is called {unknown[0]!r}; known: {', '.join(rows.NAMES)}")
    return chosen


if __name__ == "__main__":
    main()
