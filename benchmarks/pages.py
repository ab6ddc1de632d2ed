"""The pictures and tables of the documentation, drawn from results.jsonl: `python -m benchmarks.pages`."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks import BENCHMARKS
from benchmarks.report import Report, Table, newest
from benchmarks.scale import RATE

_HOME = Path(__file__).parent
_DOCS = _HOME.parent / "docs"
_HEAD = """\
# Performance tables

`python -m benchmarks.pages` writes this page from `benchmarks/results.jsonl`. [Performance](performance.md) explains
the results.
"""
OURS, PEER, BOUND, OTHER = "#2a6fdb", "#b0b0b0", "#3a9a5b", "#d9822b"


def write() -> None:
    """Write docs/performance-tables.md and docs/pictures/performance-*.svg."""
    reports = newest()
    sections = [_section(name, reports[name]) for name in BENCHMARKS if name in reports]
    (_DOCS / "performance-tables.md").write_text("\n\n".join([_HEAD.rstrip(), *sections]) + "\n")
    for name, draw in _PICTURES.items():
        if name in reports:
            _picture(_DOCS / "pictures" / f"performance-{name}.svg", draw, reports)


def _section(name: str, report: Report) -> str:
    source = (_HOME / f"{BENCHMARKS[name].replace('.', '/')}.py").read_text()
    parts = [
        f"## {name}",
        ast.get_docstring(ast.parse(source)) or "",
        f"`python -m benchmarks {name} --write`, {report.time[:10]}, {report.machine}.",
        *(table.markdown() for table in report.tables),
        report.summary,
    ]
    return "\n\n".join(part for part in parts if part)


def _picture(path: Path, draw: Callable[[dict[str, Report]], Any], reports: dict[str, Report]) -> None:
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams |= {
        "svg.hashsalt": "universe-client", "svg.fonttype": "none", "font.size": 9, "axes.spines.top": False,
        "axes.spines.right": False, "axes.titlesize": 10, "legend.frameon": False,
    }  # fmt: skip
    figure = draw(reports)
    series = dict(
        pair[::-1] for axes in figure.axes for pair in zip(*axes.get_legend_handles_labels(), strict=True)
    )
    figure.legend(series.values(), series.keys(), loc="outside upper right", ncols=len(series), fontsize=8)
    figure.savefig(path, bbox_inches="tight", facecolor="white", metadata={"Date": None})


def _axes(columns: int, width: float, height: float, share: bool = False) -> tuple[Any, list[Any]]:
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(
        1, columns, figsize=(width, height), sharey=share, squeeze=False, layout="constrained"
    )
    return figure, list(axes[0])


def _bars(axes: Any, labels: Sequence[str], series: Mapping[str, tuple[Sequence[float], str]]) -> None:
    """Draw a group of horizontal bars for each label, the first label at the top."""
    thickness = 0.8 / len(series)
    for number, (name, (values, colour)) in enumerate(series.items()):
        at = [row + (number - (len(series) - 1) / 2) * thickness for row in range(len(labels))]
        bars = axes.barh(at, values, thickness * 0.92, color=colour, label=name)
        axes.bar_label(bars, [_short(value) for value in values], padding=2, fontsize=6)
    axes.set_yticks(range(len(labels)), labels)
    axes.set_ylim(len(labels) - 0.4, -0.6)


def _short(value: float) -> str:
    text = f"{value:.0f}" if value >= 100 else f"{value:.2f}".rstrip("0").rstrip(".")
    return "" if value == 0 else text


def _values(table: Table, column: str, key: str, value: str) -> list[float]:
    """Return the numbers of `column` in the rows with `value` under `key`; 0.0 for text without a number."""
    at, where = table.columns.index(column), table.columns.index(key)
    return [_number(cells[at]) for cells in table.rows if cells[where] == value]


def _number(text: str) -> float:
    try:
        return float(text.split()[0])
    except (ValueError, IndexError):
        return 0.0


def _decode(reports: dict[str, Report]) -> Any:
    table = reports["decode"].tables[0]
    forms = ("Tight lossless", "ZRLE", "Hextile", "Raw")
    figure, panels = _axes(len(forms), 9.5, 3.2, share=True)
    for axes, form in zip(panels, forms, strict=True):
        rows = [cells for cells in table.rows if cells[1] == form]
        peer = _values(table, "libvncclient", "form", form)
        series = {}
        for client, colour in (("native", OURS), ("floor", BOUND)):
            own = _values(table, client, "form", form)
            series[client] = ([a / b for a, b in zip(own, peer, strict=True)], colour)
        _bars(axes, [cells[0] for cells in rows], series)
        axes.axvline(1, color="#555555", linestyle="--", linewidth=0.8)
        axes.set_title(form)
    figure.supxlabel("client CPU per update; 1 is libvncclient (shorter is better)", fontsize=9)
    return figure


def _many(reports: dict[str, Report]) -> Any:
    (table,) = reports["many"].tables
    figure, (axes,) = _axes(1, 8, 2.8)
    streams = list(dict.fromkeys((cells[0], cells[1], cells[3]) for cells in table.rows))
    series = {
        client: (_values(table, "would fill a core", "client", client), colour)
        for client, colour in {"native": OURS, "native+take": OTHER, "libvncclient": PEER}.items()
    }
    _bars(axes, [f"{workload}, {form}, {remotes} remotes" for workload, form, remotes in streams], series)
    axes.set_xlabel("remotes at 60 updates/s that would fill a core of client CPU (longer is better)")
    return figure


def _gil(reports: dict[str, Report]) -> Any:
    rates, keys = reports["gil"].tables
    figure, (left, right) = _axes(2, 8.5, 2.2)
    paced = [cells for cells in rates.rows if cells[0] == "busy game at 60/s"]
    for axes, rows, idle, busy in ((left, paced, 2, 3), (right, keys.rows, 1, 3)):
        drivers = [cells[1] if axes is left else cells[0] for cells in rows]
        waits = [_number(cells[idle]) for cells in rows]
        computes = [_number(cells[busy]) for cells in rows]
        _bars(axes, drivers, {"agent waits": (waits, PEER), "agent computes": (computes, OURS)})
    left.set_xlabel("updates/s of a game sent at 60 (longer is better)")
    right.set_xlabel("ms from key to pixel (shorter is better)")
    return figure


def _encodings(reports: dict[str, Report]) -> Any:
    tables = reports["encodings"].tables
    figure, panels = _axes(2, 9, 3.2, share=True)
    colours = {"Raw": OURS, "Tight lossless": OTHER, "ZRLE": PEER, "Tight q8": BOUND}
    for axes, table, column in zip(panels, tables, ("both", "updates/s"), strict=True):
        workloads = list(dict.fromkeys(cells[0] for cells in table.rows))
        series = {
            form: (_values(table, column, "encoding", form), colour) for form, colour in colours.items()
        }
        _bars(axes, workloads, series)
        axes.set_title(table.title)
    panels[0].set_xlabel("ms CPU per s, server and client (shorter is better)")
    panels[1].set_xlabel("updates/s (longer is better)")
    return figure


def _steps(reports: dict[str, Report]) -> Any:
    (table,) = reports["steps"].tables
    figure, (axes,) = _axes(1, 8, 2.4)
    rows = table.rows[1:]
    ours, copying = ([_number(cells[at]) for cells in rows] for at in (2, 4))
    labels = [f"{cells[0]} pixels" if cells[0] != "none" else "no new pixels" for cells in rows]
    _bars(axes, labels, {"VectorEnv.step": (ours, OURS), "numpy copy of the same pixels": (copying, PEER)})
    axes.set_xlabel("µs a remote, 64 remotes (shorter is better)")
    return figure


def _lockstep(reports: dict[str, Report]) -> Any:
    (lockstep,) = reports["lockstep"].tables
    figure, (axes,) = _axes(1, 8, 2.2)
    counts = list(dict.fromkeys(cells[1] for cells in lockstep.rows))
    colours = {
        "AsyncVectorEnv, CartPole-v1 with its pixels": PEER,
        "lock-step, gym-core.CartPole-v1": OURS,
        "lock-step, builtin.NeonDrive-v0": OTHER,
    }
    series = {
        name: (_values(lockstep, "ticks/s", "environment", name), colour) for name, colour in colours.items()
    }
    _bars(axes, [f"{count} environments" for count in counts], series)
    axes.set_xlabel("ticks/s of all environments (longer is better)")
    return figure


def _machine(reports: dict[str, Report]) -> Any:
    """Draw how many times better each first measure is than before, and than a peer."""
    rows = [cells for cells in reports["machine"].tables[0].rows if cells[-1]]
    figure, panels = _axes(2, 9.5, 0.34 * len(rows) + 1, share=True)
    for axes, at, title in zip(panels, (4, 6), ("than before", "than the peer"), strict=True):
        gains = [_gain(cells[1], _number(cells[at])) for cells in rows]
        _bars(axes, [cells[0] for cells in rows], {"now": (gains, OURS)})
        axes.axvline(1, color="#555555", linestyle="--", linewidth=0.8)
        axes.set_title(title)
    figure.supxlabel("times better (longer is better)", fontsize=9)
    return figure


def _gain(measure: str, ratio: float) -> float:
    """Return how many times better a measure has become; rates are better if they are higher."""
    return ratio if "/s" in measure or ratio == 0 else 1 / ratio


def _scale(reports: dict[str, Report]) -> Any:
    replayed = reports["scale"].tables[0]
    figure, (left, right) = _axes(2, 8.5, 2.8)
    labels = [cells[0] for cells in replayed.rows]
    answered, shares = ([_number(cells[at]) for cells in replayed.rows] for at in (1, 6))
    sent = [_number(cells[0]) * RATE for cells in replayed.rows]
    _bars(left, labels, {"frames answered": (answered, OURS), "frames sent": (sent, PEER)})
    left.set_ylabel("remotes")
    left.set_xlabel("per second (longer is better)")
    _bars(right, labels, {"CPU of the agent": (shares, OTHER)})
    right.set_xlabel("% of a core")
    return figure


_PICTURES = {
    "machine": _machine,
    "decode": _decode,
    "many": _many,
    "gil": _gil,
    "encodings": _encodings,
    "steps": _steps,
    "lockstep": _lockstep,
    "scale": _scale,
}

if __name__ == "__main__":
    write()
