"""Run one workload on $DISPLAY until it is ended: `python -m benchmarks.workloads NAME`."""

from __future__ import annotations

import sys
from importlib import import_module

from benchmarks.workloads.names import WORKLOADS


def main() -> None:
    if sys.argv[1:2] == [] or sys.argv[1] not in WORKLOADS:
        sys.exit(f"usage: python -m benchmarks.workloads {{{','.join(WORKLOADS)}}}")
    import_module(f"benchmarks.workloads.{sys.argv[1]}").main()


main()
