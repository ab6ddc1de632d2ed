"""The whole machine, at an earlier commit and now, in turn in each round.

CPU time is that of all processes: agent, remotes, Xvnc, and what starts them. With an X program it excludes the
program. In PSS a page of memory that several processes share counts in parts. Ratios are medians of the rounds' ratios.
On a machine with other work, CPU times and ratios say more than rates. AsyncVectorEnv is Gymnasium's, for Pong with its
Atari preprocessing. EnvPool runs consoles in threads of one process. "-" marks what a side cannot run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from benchmarks.machine import load, raw, trees
from benchmarks.machine.results import Result, table
from benchmarks.machine.rows import LOAD, NAMES, RAW, ROWS, Row
from benchmarks.machine.sides import Figures, Side, Unable
from benchmarks.report import Report, Table

COMMIT = "64f991a"
"""The default of `--against`: the last commit before pixels could stay on the host."""
Advance = Callable[[str], None]


def measure(console: Console, rounds: int, against: str = COMMIT, names: Sequence[str] = NAMES) -> Report:
    """Measure some rows; build the earlier commit first if it has not been built."""
    before = trees.earlier(against, console)
    now = trees.current()
    sides = {"before": Side.of(before), "now": Side.of(now)}
    envpool = trees.envpool(console) if "pong-lockstep" in names else ""
    results: list[Result] = []
    tables: list[Table] = []
    summary = ""
    with _progress(console, _total(names, rounds)) as advance:
        for name in (name for name in ROWS if name in names):
            results += _row(ROWS[name], sides, envpool, rounds, advance)
        if RAW in names:
            results += raw.measure(before, rounds, console, advance)
        if LOAD in names:
            loaded, summary = load.measure(sides, rounds, advance)
            tables.append(loaded)
    notes = [note for result in results for note in result.notes]
    if results:
        tables.insert(0, table(results, against, rounds))
    return Report(tables, "\n\n".join(text for text in (*notes, summary) if text))


def _row(row: Row, sides: Mapping[str, Side], envpool: str, rounds: int, advance: Advance) -> list[Result]:
    """Run all sides in turn; return a result for each measure and peer."""
    runs = {name: (side, row.worker) for name, side in sides.items()}
    runs |= {name: (_peer(name, worker, sides, envpool), worker) for name, worker in row.peers.items()}
    found: dict[str, list[Figures]] = {name: [] for name in runs}
    notes = []
    for _ in range(rounds):
        for name, (side, worker) in runs.items():
            advance(f"{row.title}: {name}")
            try:
                if name in found:
                    found[name].append(side.run(worker))
            except Unable as error:
                del found[name]
                notes.append(f"{row.title}: {name} cannot run it ({error}).")
    return _results(row, found, notes)


def _results(row: Row, found: dict[str, list[Figures]], notes: list[str]) -> list[Result]:
    measures = list(dict.fromkeys(key for runs in found.values() for figures in runs for key in figures))
    results = []
    for number, name in enumerate(measures):
        rounds = {side: [figures[name] for figures in runs] for side, runs in found.items()}
        for peer in row.peers or [None]:
            goal = row.goal if number == 0 and peer in (None, next(iter(row.peers), None)) else ""
            results.append(Result(row.title, name, goal, rounds, peer, notes))
            notes = []
    return results


def _peer(name: str, worker: tuple[str, ...], sides: Mapping[str, Side], envpool: str) -> Side:
    if worker[0] != "peers":
        return sides["now"]
    return Side(envpool if name == "EnvPool" else sides["now"].python, None)


def _total(names: Sequence[str], rounds: int) -> int:
    runs = sum(rounds * (2 + len(row.peers)) for name, row in ROWS.items() if name in names)
    return runs + len(raw.SHOWN) * (RAW in names) + 2 * rounds * len(load.COUNTS) * (LOAD in names)


@contextmanager
def _progress(console: Console, total: int) -> Iterator[Advance]:
    """Show a bar, or lines if the output is no terminal; yield a function that is called with what begins."""
    columns = (BarColumn(20), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("", total=total, completed=-1)

        def advance(text: str) -> None:
            progress.update(task, advance=1, description=text)
            if not console.is_terminal:
                console.print(f"{text} ...", highlight=False, markup=False)

        yield advance
