"""The report of a run: as JSON, as a table that fits a terminal, and as one line."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import msgspec
from rich import box
from rich.console import Group
from rich.table import Table
from rich.text import Text

from rewarder.version import VERSION

RUNNING = "running"
_FAST_ENOUGH = 0.9  # of the speed that the remotes of a machine are to have, in the mean
_STYLES = {RUNNING: "green", "lost": "red", "closed": "bold red"}
_FULL = ("#", "address", "state", "frames/s", "episodes", "reward", "reaction")
_COMPACT = ("#", "state", "fps", "ep", "reward", "ms")
_COMPACT_WIDTH = 40  # columns for one remote, with the gap to the next
_AROUND_FULL = 5  # lines beside the remotes: title, head, rule, totals, cursor
_AROUND_COMPACT = 4  # the same without the rule
_NOTES = 2  # lines reserved for errors, where not all remotes fit


class RemoteReport(msgspec.Struct):
    """The figures of one remote."""

    index: int
    address: str | None
    state: str
    """Running, lost, closed, or the step that the remote waits for."""
    task: str | None
    frames_per_second: float
    episodes: int
    reward: float
    reaction_time_ms: float | None
    error: str | None
    """The last error."""
    version: str | None
    """Version of universe-client on the remote's side; None if unknown."""
    machine: str | None = None
    """The host on which the remote runs, `this machine` if it is the agent's."""
    fps: float | None = None
    """Ticks per second that the environment is to run at."""
    speed: float | None = None
    """Ticks per second that it runs at, as a share of `fps`; None while unknown, and in lock-step."""


class Report(msgspec.Struct):
    """The object that `--json` prints: the figures of the run, and those of each remote."""

    env_id: str | None
    seconds: float
    """Seconds since the first observation; 0 if there was none."""
    steps_per_second: float
    frames_per_second: float
    episodes: int
    reward: float
    reaction_time_ms: float | None
    complaint: str | None
    """Why no remote has started; None if one has."""
    remotes: list[RemoteReport]
    version: str = VERSION
    """Version of universe-client on this side."""
    driver: str | None = None
    """The VNC driver on this side, `native` or `portable`."""

    @property
    def running(self) -> int:
        """The number of remotes that run now."""
        return sum(remote.state == RUNNING for remote in self.remotes)


def picture(report: Report, width: int, height: int) -> Group:
    """Return the table, current errors and instructions, in `height` lines of `width` columns."""
    table: Table | Group = _full(report)
    lines, hidden = len(report.remotes) + _AROUND_FULL, 0
    if lines > height:
        table, lines, hidden = _compact(report, width, height)
    notes = [Text(f"and {hidden} more", "dim")] if hidden else []
    notes += [Text(brief(error), "red") for error in problems(report, now=True)]
    notes += _small_machines(report) + _versions(report) + _tasks(report)
    return Group(table, *(_one_line(note) for note in _cut(notes, height - lines)))


def summary(report: Report) -> Group:
    """Return the whole table and all errors: the first in full, the others in one line each."""
    errors = problems(report)
    shown = [Text(error, "red") for error in [*errors[:1], *map(brief, errors[1:])]]
    return Group(_full(report), *shown, *_small_machines(report), *_versions(report))


def line(report: Report) -> str:
    """Return the run in one line."""
    notes = [report.complaint] if report.complaint else []
    notes += [note.plain for note in _small_machines(report)]
    return "; ".join(
        (f"{report.seconds:.0f} s, {report.steps_per_second:.1f} steps/s", _sums(report), *notes)
    )


def brief(error: str) -> str:
    """Return an error in one line; of a program's output, the last line only."""
    first, *others = error.splitlines()
    return f"{first.partition('; its last words')[0]}: {others[-1].strip()}" if others else first


def problems(report: Report, now: bool = False) -> list[str]:
    """Return the last error of each remote; with `now`, of those that do not run at the moment."""
    return [
        remote.error
        for remote in report.remotes
        if remote.error is not None and not (now and remote.state == RUNNING)
    ]


def _full(report: Report) -> Table:
    table = Table(title=_title(report), title_justify="left", box=box.SIMPLE_HEAD)
    table.show_edge, table.pad_edge, table.collapse_padding = False, False, True  # fits into 80 columns
    for name in _FULL:
        left, gives_way = name in ("address", "state"), name == "address"
        table.add_column(
            name, justify="left" if left else "right", no_wrap=not gives_way, overflow="ellipsis"
        )
    for remote in report.remotes:
        table.add_row(
            str(remote.index),
            Text(remote.address or "-"),
            _state(remote),
            f"{remote.frames_per_second:.1f}",
            str(remote.episodes),
            f"{remote.reward:+g}",
            _reaction(remote.reaction_time_ms),
        )
    if len(report.remotes) > 1:
        table.add_row(*_totals(report), style="bold")
    return table


def _sums(report: Report) -> str:
    return (
        f"{report.running} of {len(report.remotes)} run, {report.frames_per_second:.1f} frames/s, "
        f"{report.episodes} episodes, reward {report.reward:+.6g}, reaction {_reaction(report.reaction_time_ms)}"
    )


def _totals(report: Report) -> tuple[str, ...]:
    return (
        "all",
        "",
        f"{report.running} of {len(report.remotes)} run",
        f"{report.frames_per_second:.1f}",
        str(report.episodes),
        f"{report.reward:+.6g}",
        _reaction(report.reaction_time_ms),
    )


def _compact(report: Report, width: int, height: int) -> tuple[Group, int, int]:
    """Return a table with several remotes per line, its number of lines, and the number of remotes left out."""
    beside = max(1, width // _COMPACT_WIDTH)
    rows = min(math.ceil(len(report.remotes) / beside), height - _AROUND_COMPACT)
    if rows * beside < len(report.remotes):
        rows = max(1, height - _AROUND_COMPACT - _NOTES)
    shown = _chosen(report.remotes, rows * beside)
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    for _ in range(beside):
        for name in _COMPACT:
            table.add_column(name, justify="left" if name == "state" else "right", no_wrap=True)
    for row in range(rows):
        cells = [_compact_cells(remote) for remote in shown[row::rows]]
        table.add_row(*(cell for remote in cells for cell in remote))
    totals = Text(_sums(report), "bold")
    lines = rows + _AROUND_COMPACT
    return Group(_one_line(_title(report)), table, _one_line(totals)), lines, len(report.remotes) - len(shown)


def _compact_cells(remote: RemoteReport) -> tuple[str | Text, ...]:
    state = _state(remote)
    state.truncate(11, overflow="ellipsis", pad=True)
    return (
        f"{remote.index:2}",
        state,
        f"{remote.frames_per_second:5.1f}",
        f"{remote.episodes:3}",
        f"{remote.reward:+7.4g}",
        _reaction(remote.reaction_time_ms).removesuffix(" ms").rjust(5),
    )


def _chosen(remotes: Sequence[RemoteReport], room: int) -> list[RemoteReport]:
    """Return as many remotes as fit, in their order. Those that do not run take precedence."""
    chosen = sorted(remotes, key=lambda remote: remote.state == RUNNING)[:room]
    return sorted(chosen, key=lambda remote: remote.index)


def _title(report: Report) -> Text:
    name = report.env_id or "remotes"
    return Text(f"{name}: {report.seconds:.0f} s, {report.steps_per_second:.1f} steps/s", "bold")


def _state(remote: RemoteReport) -> Text:
    return Text(remote.state, _STYLES.get(remote.state, "yellow"))


def _reaction(milliseconds: float | None) -> str:
    return "-" if milliseconds is None else f"{milliseconds:.1f} ms"


def _tasks(report: Report) -> list[Text]:
    """Return the instructions of the remotes, one line for each text."""
    tasks = _shared(report, lambda remote: remote.task)
    if len(report.remotes) == 1:
        return [Text(task, "dim") for task in tasks]
    return [Text(f"{numbers}: {task}", "dim") for task, numbers in tasks.items()]


def _versions(report: Report) -> list[Text]:
    """Return the versions of remotes that differ from this client's."""
    versions = _shared(report, lambda remote: None if remote.version == report.version else remote.version)
    return [
        Text(f"{numbers}: universe-client {version} there, {report.version} here", "yellow")
        for version, numbers in versions.items()
    ]


def _small_machines(report: Report) -> list[Text]:
    """Return a line for each machine on which the remotes run more slowly than they are to: for how many it would do.

    The ticks of all its remotes together are what it can do.
    """
    machines: dict[str, list[RemoteReport]] = {}
    for remote in report.remotes:
        if remote.machine is not None and remote.speed is not None:
            machines.setdefault(remote.machine, []).append(remote)
    return [
        Text(_capacity(name, remotes), "yellow") for name, remotes in machines.items() if _is_slow(remotes)
    ]


def _is_slow(remotes: Sequence[RemoteReport]) -> bool:
    return sum(remote.speed or 0.0 for remote in remotes) < _FAST_ENOUGH * len(remotes)


def _capacity(machine: str, remotes: Sequence[RemoteReport]) -> str:
    whole = sum(remote.speed or 0.0 for remote in remotes)
    rate = f" at {remotes[0].fps:g} frames/s" if remotes[0].fps else " in real time"
    many = f"about {whole:.0f} of these remotes" if whole >= 1 else "no such remote"
    return f"{machine} can run {many}{rate} ({len(remotes)} run at {whole / len(remotes):.0%})"


def _shared(report: Report, text: Callable[[RemoteReport], str | None]) -> dict[str, str]:
    """Return each text of the remotes, with the indexes of the remotes that have it."""
    indexes: dict[str, list[int]] = {}
    for remote in report.remotes:
        if what := text(remote):
            indexes.setdefault(what, []).append(remote.index)
    return {what: _numbers(of) for what, of in indexes.items()}


def _numbers(indexes: Sequence[int]) -> str:
    if len(indexes) > 2 and indexes[-1] - indexes[0] == len(indexes) - 1:
        return f"{indexes[0]}-{indexes[-1]}"
    return ", ".join(map(str, indexes))


def _cut(notes: list[Text], room: int) -> list[Text]:
    return notes if len(notes) <= room else [*notes[: max(0, room - 1)], Text("...", "dim")][: max(0, room)]


def _one_line(note: Text) -> Text:
    return Text(" ".join(note.plain.split()), note.style, no_wrap=True, overflow="ellipsis")
