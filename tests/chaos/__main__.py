"""`python -m tests.chaos --seconds 60`: 18 remotes and a random fault every second.

16 embedded remotes and 2 on Xvnc send numbered rewards and write each to a file first. The files are compared with what
the agent received: no reward is lost, none is counted twice, every episode ends once, no observation shows an older
episode. Memory, descriptors and threads of the agent's process do not grow. Otherwise the exit status is 1.
"""

from __future__ import annotations

import argparse
import logging
import os
import random
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from tests.chaos.fleet import ROOT
from tests.chaos.remote import LEDGER
from tests.chaos.report import closing, violations
from tests.chaos.run import chaos


def main() -> int:
    """Run the command line."""
    options = _options()
    logging.basicConfig(level=logging.ERROR)
    os.environ["PYTHONPATH"] = str(ROOT)  # so that the remotes can import this package
    console = Console()
    console.print(f"seed {options.seed}, {options.seconds:g} s", highlight=False)
    columns = TimeElapsedColumn(), BarColumn(), TextColumn("{task.description}")
    with tempfile.TemporaryDirectory(prefix="chaos-") as ledger, Progress(*columns, console=console) as bar:
        os.environ[LEDGER] = ledger
        task = bar.add_task("starting the remotes", total=options.seconds)

        def progress(seconds: float, what: str) -> None:
            bar.update(task, completed=seconds, description=what)
            if not console.is_terminal and int(seconds) % 60 == 0:
                console.print(f"{seconds:.0f} s: {what}", highlight=False)

        outcome = chaos(
            options.seconds,
            options.seed,
            Path(ledger),
            embedded=options.embedded,
            displays=options.xvnc,
            driver=options.driver,
            progress=progress,
        )
    console.print(closing(outcome, options.seconds))
    for example in outcome.books.examples:
        console.print(f"! {example}", highlight=False, markup=False)
    broken = violations(outcome, options.seconds)
    console.print(f"BROKEN: {', '.join(broken)}" if broken else "held", highlight=False)
    return 1 if broken else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1_000_000))
    parser.add_argument("--embedded", type=int, default=16, help="remotes of our own server")
    parser.add_argument("--xvnc", type=int, default=2, help="remotes on TigerVNC's server")
    parser.add_argument("--driver", choices=("auto", "native", "portable"), default="auto")
    return parser.parse_args()


sys.exit(main())
