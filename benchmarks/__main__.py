"""Run benchmarks and print their tables: `python -m benchmarks [NAME ...] [--write]`.

Without a NAME all of them run but those that need more than the README installs: codecs (cmake, libjpeg), containers
and soak (a Docker daemon and our images).
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

from rich.console import Console
from rich.table import Table

from benchmarks import (
    codecs,
    containers,
    decode,
    driver,
    encodings,
    environment,
    gil,
    lockstep,
    making,
    many,
    pixels,
    pong,
    soak,
    steps,
)
from benchmarks.report import Report
from rewarder.cli.option_types import count

BENCHMARKS: dict[str, Callable[[Console, argparse.Namespace], Report | Table]] = {
    "environment": lambda console, options: environment.measure(),
    "driver": lambda console, options: driver.measure(),
    "decode": lambda console, options: decode.measure(console, options.rounds),
    "codecs": lambda console, options: codecs.measure(console, options.rounds),
    "encodings": lambda console, options: encodings.measure(console, options.rounds),
    "gil": lambda console, options: gil.measure(console, options.rounds),
    "lockstep": lambda console, options: lockstep.measure(console, options.rounds),
    "making": lambda console, options: making.measure(console, options.rounds),
    "many": lambda console, options: many.measure(console, options.rounds),
    "pixels": lambda console, options: pixels.measure(console, options.rounds),
    "pong": lambda console, options: pong.measure(console, options.rounds),
    "steps": lambda console, options: steps.measure(console, options.rounds),
    "containers": lambda console, options: containers.measure(console, options.rounds),
    "soak": lambda console, options: soak.measure(console, options.minutes),
}
_ON_DEMAND = ("codecs", "containers", "soak")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(BENCHMARKS)}")
    parser.add_argument("--write", action="store_true", help="put the results into docs/")
    parser.add_argument(
        "--rounds",
        type=count,
        default=3,
        metavar="N",
        help="of all but environment, driver and soak; default: %(default)d",
    )
    parser.add_argument(
        "--minutes", type=count, default=10, metavar="N", help="of soak; default: %(default)d"
    )
    options = parser.parse_args()
    unknown = [name for name in options.names if name not in BENCHMARKS]
    if unknown:
        parser.error(f"no benchmark is called {unknown[0]!r}")
    console = Console()
    for name in options.names or [name for name in BENCHMARKS if name not in _ON_DEMAND]:
        console.rule(name)
        result = BENCHMARKS[name](console, options)
        if isinstance(result, Report):
            console.print(result.about, highlight=False)
            result.show(console)
            if options.write:
                result.write()
        else:
            console.print(result)


if __name__ == "__main__":
    main()
