"""Run the benchmarks and print their tables: `make bench`."""

from __future__ import annotations

from rich.console import Console

from benchmarks import driver, environment


def main() -> None:
    console = Console()
    for benchmark in (environment, driver):
        console.print(benchmark.__doc__)
        with console.status("measuring"):
            table = benchmark.measure()
        console.print(table)


if __name__ == "__main__":
    main()
