"""Run benchmarks and print their tables: `python -m benchmarks [NAME ...] [--rounds N] [--write]`.

Without a NAME all run, except those that need more than the README installs: codecs (cmake, libjpeg), containers and
soak (a Docker daemon and the images of this package). `python -m benchmarks.pages` draws the pictures and tables of
the documentation again, without a measurement.
"""

from __future__ import annotations

import argparse
from importlib import import_module

from rich.console import Console

from benchmarks import BENCHMARKS, pages

_ON_DEMAND = ("codecs", "containers", "soak")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(BENCHMARKS)}")
    parser.add_argument("--write", action="store_true", help="append to results.jsonl and draw docs/ again")
    parser.add_argument(
        "--rounds", type=int, default=3, metavar="N", help="of soak: minutes; default: %(default)d"
    )
    options = parser.parse_args()
    unknown = [name for name in options.names if name not in BENCHMARKS]
    if unknown:
        parser.error(f"no benchmark is called {unknown[0]!r}")
    console = Console()
    for name in options.names or [name for name in BENCHMARKS if name not in _ON_DEMAND]:
        module = import_module(f"benchmarks.{BENCHMARKS[name]}")
        console.rule(name)
        console.print(module.__doc__, highlight=False)
        report = module.measure(console, options.rounds)
        report.show(console)
        if options.write:
            report.append(name)
    if options.write:
        pages.write()


if __name__ == "__main__":
    main()
