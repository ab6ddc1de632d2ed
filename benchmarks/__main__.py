"""Run benchmarks and print their tables: `python -m benchmarks [NAME ...] [--write]`, all of them without a NAME."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from rich.console import Console
from rich.table import Table

from benchmarks import decode, driver, environment, gil, many, pixels, pong
from benchmarks.report import Report

BENCHMARKS: dict[str, Callable[[Console, int], Report | Table]] = {
    "environment": lambda console, rounds: environment.measure(),
    "driver": lambda console, rounds: driver.measure(),
    "decode": decode.measure,
    "gil": gil.measure,
    "many": many.measure,
    "pixels": pixels.measure,
    "pong": pong.measure,
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(BENCHMARKS)}; default: all")
    parser.add_argument("--write", action="store_true", help="put the results into docs/performance.md")
    parser.add_argument(
        "--rounds",
        type=int,
        default=3,
        metavar="N",
        help="of decode, gil, many, pixels, pong; default: %(default)d",
    )
    options = parser.parse_args()
    unknown = [name for name in options.names if name not in BENCHMARKS]
    if unknown:
        parser.error(f"no benchmark is called {unknown[0]!r}")
    console = Console()
    for name in options.names or BENCHMARKS:
        console.rule(name)
        result = BENCHMARKS[name](console, options.rounds)
        if isinstance(result, Report):
            console.print(result.about, highlight=False)
            result.show(console)
            if options.write:
                result.write()
        else:
            console.print(result)


if __name__ == "__main__":
    main()
