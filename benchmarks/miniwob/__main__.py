"""Every MiniWoB++ page in one browser: how long a reset takes, and what the scripted right action earns.

python -m benchmarks.miniwob [--markdown] [TASK ...]
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from dataclasses import dataclass

from benchmarks.miniwob import clicking, forms, keyboard, menus, pointing
from benchmarks.miniwob.page import Page
from benchmarks.miniwob.solvers import ATTEMPTS, SOLVERS
from rewarder.display.xdisplay import XDisplay
from rewarder.runtimes.browser.browser import BrowserRuntime, on_display
from rewarder.runtimes.browser.chromium import BrowserGone

__all__ = ["clicking", "forms", "keyboard", "menus", "pointing"]

SEED = 7
RESETS = 3


@dataclass(frozen=True, slots=True)
class Outcome:
    task: str
    load: float
    """Seconds of the reset that loads the page."""
    reset: float
    """Seconds of the slowest reset on the loaded page, or of one that loads it again."""
    reward: float
    attempts: int
    note: str = ""


def measure(runtime: BrowserRuntime, env_id: str) -> Outcome:
    task = env_id.removeprefix("browser.")
    page = Page(runtime, env_id)
    load = page.reset(SEED)
    reset = max(page.reset(SEED + 1 + number) for number in range(RESETS))
    if not page.text:
        return Outcome(task, load, reset, 0.0, 0, "no text")
    if task not in SOLVERS:
        return Outcome(task, load, reset, 0.0, 0, "no script")
    best, note, attempts = -1.0, "", 0
    for attempt in range(ATTEMPTS):
        attempts += 1
        page.reset(SEED)
        try:
            SOLVERS[task](page, attempt)
            page.over(1.0)
        except (BrowserGone, StopIteration, IndexError, KeyError, ValueError, AssertionError) as error:
            note = f"{type(error).__name__}: {str(error).splitlines()[0][:60] if str(error) else ''}"
            if attempt >= 7:
                break
            continue
        if page.ended is not None and page.ended.reward > best:
            best, note = page.ended.reward, ""
        if best > 0:
            break
    return Outcome(task, load, reset, best, attempts, note)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--markdown", action="store_true", help="print a Markdown table")
    parser.add_argument("tasks", nargs="*", metavar="TASK")
    options = parser.parse_args()
    with on_display("browser.click-test", XDisplay(640, 480)) as runtime:
        runtime.open()
        env_ids = [f"browser.{task}" for task in options.tasks] or sorted(set(runtime.env_ids))
        env_ids = [env_id for env_id in env_ids if not env_id.endswith("-v0")]
        began = time.monotonic()
        outcomes = []
        try:
            for env_id in env_ids:
                outcomes.append(measure(runtime, env_id))
                show(outcomes[-1], options.markdown)
        finally:
            runtime.close()
    summary(outcomes, time.monotonic() - began)
    return 0


def show(outcome: Outcome, markdown: bool) -> None:
    cells = (
        outcome.task, f"{outcome.load * 1000:.0f}", f"{outcome.reset * 1000:.0f}", f"{outcome.reward:.2f}",
        str(outcome.attempts), outcome.note,
    )  # fmt: skip
    print(
        "| " + " | ".join(cells) + " |" if markdown else "{:32}{:>6}{:>6}{:>7}{:>4}  {}".format(*cells),
        flush=True,
    )


def summary(outcomes: list[Outcome], seconds: float) -> None:
    loads, resets = [outcome.load for outcome in outcomes], [outcome.reset for outcome in outcomes]
    solved = sum(outcome.reward > 0 for outcome in outcomes)
    print(
        f"\n{len(outcomes)} pages in {seconds:.0f} s: {solved} gave a reward; first reset median "
        f"{statistics.median(loads) * 1000:.0f} ms, slowest {max(loads) * 1000:.0f} ms; later resets median "
        f"{statistics.median(resets) * 1000:.0f} ms, slowest {max(resets) * 1000:.0f} ms"
    )


if __name__ == "__main__":
    sys.exit(main())
